//go:build linux && !race

package powerloss_test

const shopsOfATest = 100
