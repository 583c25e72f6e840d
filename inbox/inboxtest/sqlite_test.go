package inboxtest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox/inboxtest"
	"github.com/depositpay/depositpay-go/internal/sqlite"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	inboxtest.Exercise(t, func(t *testing.T) inboxtest.Database {
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return inboxtest.Database{SQLite: db, Ledger: db.Writer}
	})
}
