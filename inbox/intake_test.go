package inbox_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
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

// unpaid is a service where nobody has paid. It remembers in which order it was asked.
type unpaid struct {
	inbox.Client
	mu     sync.Mutex
	asked  []uuid.UUID
	during func(n int) // runs in the n-th confirm
}

func (u *unpaid) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, id)
	u.during(len(u.asked))
	return payments.Payment{}, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
}

// TestDueIDIsNotStarvedByReconciliation: a created id that becomes due during a reconciliation is
// confirmed soon, and not after all of the reconciliation's ids.
func TestDueIDIsNotStarvedByReconciliation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the limiters and the loops keep the bubble's time
		ledger := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
		ids := make([]uuid.UUID, 300)
		var all sync.WaitGroup
		client := &unpaid{}
		box := accepting(t, inbox.Config{SQLite: ledger, Client: client, ReconcileEvery: -1})
		for n := range ids {
			ids[n] = uuid.New()
			all.Go(func() { assert.NoError(t, box.Expect(t.Context(), ids[n], request(record{"kim", "500"}))) })
		}
		all.Wait()
		require.NoError(t, inbox.Fold(box))
		due := ids[0]
		_, err := ledger.Writer.ExecContext(t.Context(), `UPDATE depositpay_payments SET first_seen = first_seen - 60000000 WHERE payment_id = ?`, due.String())
		require.NoError(t, err) // the reconciliation asks about the oldest last
		client.during = func(n int) {
			if n == 100 { // what the limiters had saved up is gone
				_, err := ledger.Writer.ExecContext(context.Background(), `UPDATE depositpay_payments SET run_at = 1 WHERE payment_id = ?`, due.String())
				assert.NoError(t, err)
			}
		}
		running(t, box)
		<-time.After(time.Minute)
		client.mu.Lock()
		defer client.mu.Unlock()
		require.GreaterOrEqual(t, len(client.asked), len(ids))
		require.Less(t, slices.Index(client.asked, due), 200, "of %d confirms", len(client.asked))
		require.Contains(t, client.asked, due)
	})
}

// TestReconciliationGoesOn: reconciliations that are cut short, as by restarts, get to all that is
// outstanding, also while new links are made. Each of them brings the hints forward first.
func TestReconciliationGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
		client := &unpaid{}
		box := accepting(t, inbox.Config{SQLite: ledger, Client: client, ReconcileEvery: -1})
		expect := func(n int) (ids []uuid.UUID) {
			for range n {
				ids = append(ids, uuid.New())
				require.NoError(t, box.Expect(t.Context(), ids[len(ids)-1], request(record{"kim", "500"})))
			}
			require.NoError(t, inbox.Fold(box))
			return ids
		}
		old := expect(60)
		hint := uuid.New()
		require.NoError(t, box.Webhook().RecordHint(t.Context(), hint))
		require.NoError(t, inbox.Fold(box))
		for range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			until := len(client.asked) + 20
			client.during = func(n int) {
				if n == until {
					cancel()
				}
			}
			_, err := box.Reconcile(ctx)
			require.ErrorIs(t, err, context.Canceled)
			expect(5)
		}
		for _, id := range old {
			require.Contains(t, client.asked, id)
		}
		var waits int64
		err := ledger.Writer.QueryRowContext(t.Context(), `SELECT run_at - CAST(unixepoch('subsec') * 1000000 AS INTEGER) FROM depositpay_payments WHERE payment_id = ?`, hint.String()).Scan(&waits)
		require.NoError(t, err)
		require.LessOrEqual(t, waits, int64(0))
	})
}

// TestListIsNotBounded: List takes as long as its caller lets it, since each page may sort the whole ledger; other
// statements on PostgreSQL are bounded.
func TestListIsNotBounded(t *testing.T) {
	s := newStand(t, true, nil)
	s.accept(nthPayment(1))
	inbox.LimitStatements(s.box, time.Nanosecond)
	_, err := s.box.Get(t.Context(), nthPayment(1).ID.String())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var keys []string
	for e, err := range s.box.List(t.Context(), inbox.Filter{}) {
		require.NoError(t, err)
		keys = append(keys, e.Key)
	}
	require.Equal(t, []string{nthPayment(1).ID.String()}, keys)
}

// TestRetentionWaitsForTheWriter: no statement of retention is bounded on SQLite, where a handler may hold the writer
// for as long as its HandlerTimeout.
func TestRetentionWaitsForTheWriter(t *testing.T) {
	s := retiring(t, false, grant)
	s.accept(nthPayment(1))
	s.accept(nthPayment(1)) // a repeat leaves a receipt
	s.age(keepBodies + time.Hour)
	inbox.LimitStatements(s.box, time.Nanosecond)
	require.Zero(t, s.bodies())
}
