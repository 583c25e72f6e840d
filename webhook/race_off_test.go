//go:build !race

package webhook_test

const (
	crowdIdle = 10_000
	crowdSlow = 500
)
