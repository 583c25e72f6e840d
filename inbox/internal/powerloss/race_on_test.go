//go:build linux && race

package powerloss_test

const shopsOfATest = 10 // the race detector slows them down tenfold; make test runs all of them once without it
