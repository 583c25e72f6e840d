//go:build race

package mockserver_test

// The race detector makes a server slow. What a payment takes is the same.
const manyPayments = 10_000
