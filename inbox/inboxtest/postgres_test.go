package inboxtest_test

import (
	"testing"

	"github.com/depositpay/depositpay-go/inbox/inboxtest"
	"github.com/depositpay/depositpay-go/internal/pgtest"
)

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	inboxtest.Exercise(t, func(t *testing.T) inboxtest.Database {
		db := pgtest.New(t)
		return inboxtest.Database{DB: db.DB, Ledger: db.DB}
	})
}
