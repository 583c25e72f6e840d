//go:build !race

package mockserver_test

const manyPayments = 100_000
