package inbox_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestIntakeRefuses: what the intake file does not take is not acknowledged, to none of
// those who came together, and nothing is polled until it takes something again.
func TestIntakeRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	box := accepting(t, inbox.Config{SQLite: openLedger(t, path)})
	journal := box.Poller().Begin()
	_, err := journal.BeforePoll(t.Context())
	require.NoError(t, err)
	beside, err := sql.Open("sqlite", "file:"+path+"-intake?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, beside.Close()) })
	_, err = beside.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON intake BEGIN SELECT RAISE(ABORT, 'no room'); END`)
	require.NoError(t, err)
	const n = 32
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- box.Webhook().Accept(t.Context(), nthPayment(i)) }()
	}
	for range n {
		require.ErrorContains(t, <-errs, "no room")
	}
	_, err = journal.BeforePoll(t.Context())
	require.ErrorContains(t, err, "no room", "a ping succeeds, an acceptance would not")
	_, err = box.Get(t.Context(), nthPayment(0).ID.String())
	require.ErrorIs(t, err, inbox.ErrNotFound)

	_, err = beside.ExecContext(t.Context(), `DROP TRIGGER refuse`)
	require.NoError(t, err)
	_, err = journal.BeforePoll(t.Context())
	require.NoError(t, err)
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
}

// TestFoldIsOneTransaction: what was accepted and could not be folded is there after a
// restart: the position in the intake file moves with the fold, or not at all.
func TestFoldIsOneTransaction(t *testing.T) {
	t.Parallel()
	db := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
	cfg := inbox.Config{SQLite: db}
	box := accepting(t, cfg)
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	_, err := db.Writer.ExecContext(t.Context(), `ALTER TABLE depositpay_payments RENAME TO elsewhere`)
	require.NoError(t, err)
	_, err = box.Reconcile(t.Context())
	require.ErrorContains(t, err, "no such table")
	require.NoError(t, box.Close())
	_, err = db.Writer.ExecContext(t.Context(), `ALTER TABLE elsewhere RENAME TO depositpay_payments`)
	require.NoError(t, err)

	box = accepting(t, cfg)
	_, err = box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, books{t, db.Writer}.number(`SELECT count(*) FROM {p}payments WHERE stage = {ready}`))
}
