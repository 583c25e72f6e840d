// Package riverbench measures how fast package inbox hands payments over next to River,
// the job queue for PostgreSQL, on one server, in paired rounds of one run. It is a module of its
// own, so that River stays out of the go.mod of those who import the library.
//
// Both sides are given the same payments, the same number of workers and as many
// connections; in both, the merchant's row and the mark "done" are one transaction. River has
// its own driver (pgx, without database/sql), since that is its fastest, and fetches as
// often as it lets itself be told to.
package riverbench
