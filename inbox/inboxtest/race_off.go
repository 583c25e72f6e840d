//go:build !race

package inboxtest

const manyPayments = 10_000
