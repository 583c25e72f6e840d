package inbox_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestPoisonSQLite: what the ledger refuses is kept for a person and holds up nothing
// that came with it or comes after it.
func TestPoisonSQLite(t *testing.T) {
	t.Parallel()
	db := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
	box := accepting(t, inbox.Config{SQLite: db})
	createEffects(t, db.Writer)
	books{t, db.Writer}.do(`CREATE TRIGGER poison BEFORE INSERT ON {p}payments
		WHEN NEW.identifier = 'order-7' AND NEW.stage = {ready} BEGIN SELECT RAISE(ABORT, 'poison'); END`)
	for n := range 20 {
		require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(n)))
	}
	stop := running(t, box)
	for n := range 20 {
		if n != 7 {
			awaitStage(t, box, nthPayment(n).ID.String(), inbox.StageDone)
		}
	}
	stop()
	kept := inReview(t, box)
	require.Len(t, kept, 1)
	require.Equal(t, string(inbox.ReasonUnstorable), kept[0].Reason)
	require.Contains(t, kept[0].Unreadable, nthPayment(7).ID.String())
	require.ErrorIs(t, box.Approve(t.Context(), kept[0].Key, inbox.Decision{Actor: "kim", Reason: "why not"}), inbox.ErrStage)
}

// TestDamagedIntake: a line of the intake file that cannot be read, or that a later
// version has written, is kept for a person; the lines around it take effect.
func TestDamagedIntake(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"NoJSON":       `UPDATE intake SET ops = replace(ops, '"k"', '"k') WHERE n = 2`,
		"LaterVersion": `UPDATE intake SET ops = replace(ops, '"k":"record"', '"k":"hologram"') WHERE n = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged(t, damage)
		})
	}
}

func damaged(t *testing.T, damage string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db := openLedger(t, path)
	box := accepting(t, inbox.Config{SQLite: db})
	createEffects(t, db.Writer)
	for n := range 3 {
		require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(n)))
	}
	require.NoError(t, box.Close())
	_, err := db.Intake.ExecContext(t.Context(), damage)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	db = openLedger(t, path)
	box = accepting(t, inbox.Config{SQLite: db})
	stop := running(t, box)
	awaitStage(t, box, nthPayment(0).ID.String(), inbox.StageDone)
	awaitStage(t, box, nthPayment(2).ID.String(), inbox.StageDone)
	stop()
	kept := inReview(t, box)
	require.Len(t, kept, 1)
	require.Contains(t, kept[0].Unreadable, nthPayment(1).ID.String())
	_, err = box.Get(t.Context(), nthPayment(1).ID.String())
	require.ErrorIs(t, err, inbox.ErrNotFound)
}

// TestPoisonPostgreSQL: what the database refuses fails its own caller, not the group.
func TestPoisonPostgreSQL(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	for _, statement := range []string{
		`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.identifier = 'order-7' THEN RAISE EXCEPTION 'poison' USING ERRCODE = 'check_violation'; END IF;
			RETURN NEW; END $$`,
		`CREATE TRIGGER poison BEFORE INSERT ON depositpay_payments FOR EACH ROW EXECUTE FUNCTION refuse()`,
	} {
		_, err := db.DB.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	const n = 64
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = box.Webhook().Accept(t.Context(), nthPayment(i)) })
	}
	all.Wait()
	for i, err := range errs {
		if i == 7 {
			require.ErrorContains(t, err, "poison")
			continue
		}
		require.NoError(t, err, "payment %d", i)
	}
	journal := box.Poller().Begin()
	_, err := journal.BeforePoll(t.Context())
	require.NoError(t, err, "the store is not down because of one payment")
	require.NoError(t, journal.Close(t.Context()))
}

func openLedger(t *testing.T, path string) *inbox.SQLite {
	t.Helper()
	db, err := sqlite.Open(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func createEffects(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), effectsTable)
	require.NoError(t, err)
}

// running runs the box until the test, or the returned function, ends it.
func running(t *testing.T, box *inbox.Inbox) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

func awaitStage(t *testing.T, box *inbox.Inbox, key string, want inbox.Stage) {
	t.Helper()
	require.Eventually(t, func() bool {
		e, err := box.Get(t.Context(), key)
		return err == nil && e.Stage == want
	}, patience, 5*time.Millisecond, "payment %s must become %s", key, want)
}

func inReview(t *testing.T, box *inbox.Inbox) (list []inbox.Entry) {
	t.Helper()
	for e, err := range box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}}) {
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}
