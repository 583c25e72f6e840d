package inboxtest_test

import (
	"database/sql"
	"testing"

	"github.com/depositpay/depositpay-go/inbox/inboxtest"
)

// It is a test of yours, named TestMyDriver, and openMine opens an empty database with your
// driver for the length of t. Nothing is run here: a test needs a testing.T, and this one a
// database.
func ExampleExercise() {
	var openMine func(t *testing.T) *sql.DB
	TestMyDriver := func(t *testing.T) {
		inboxtest.Exercise(t, func(t *testing.T) inboxtest.Database {
			db := openMine(t)
			return inboxtest.Database{DB: db, Ledger: db}
		})
	}
	_ = TestMyDriver
}
