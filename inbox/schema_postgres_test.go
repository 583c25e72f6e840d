package inbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestLedgerOfAnotherShape: Open refuses a ledger that says it has this version and has not
// its columns or tables; it does not begin to work and fail statement by statement.
func TestLedgerOfAnotherShape(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t).DB
	for i, change := range []string{
		`ALTER TABLE %spayments DROP COLUMN ready_at CASCADE`,
		`ALTER TABLE %spayments RENAME leased TO lease`,
		`ALTER TABLE %sorders ALTER created_at TYPE timestamptz USING now()`,
		`DROP TABLE %sreceipts`,
		`DROP TABLE %spolls`,
	} {
		prefix := fmt.Sprintf("shape%d_", i)
		cfg := inbox.Config{DB: db, TablePrefix: prefix, Client: nobody{}, Handler: grant}
		box, err := inbox.Open(t.Context(), cfg)
		require.NoError(t, err)
		require.NoError(t, box.Close())
		_, err = db.ExecContext(t.Context(), fmt.Sprintf(change, prefix))
		require.NoError(t, err)
		_, err = inbox.Open(t.Context(), cfg)
		require.ErrorIs(t, err, inbox.ErrSchema, change)
		require.ErrorContains(t, err, "MigrationSQL", change)
	}
	assert.Zero(t, db.Stats().InUse)
}
