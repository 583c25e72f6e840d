//go:build race

package webhook_test

// The race detector ends a process with more than 8,128 goroutines, and a connection is
// one: make test runs the whole crowd once without it.
const (
	crowdIdle = 2_000
	crowdSlow = 300
)
