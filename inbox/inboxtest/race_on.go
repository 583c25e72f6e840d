//go:build race

package inboxtest

// The race detector slows the many payments down tenfold; make test runs them once
// with fewer under it, and once with all of them without it.
const manyPayments = 300
