package inbox_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// intakeFile is another connection to the intake file of a stand on SQLite.
func (s *stand) intakeFile() *sql.DB {
	s.t.Helper()
	var file string
	require.NoError(s.t, s.ledger.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file))
	db, err := sql.Open("sqlite", file+"-intake")
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, db.Close()) })
	return db
}

func (s *stand) requireReady(ids ...uuid.UUID) {
	s.t.Helper()
	for n, id := range ids {
		stage := -1
		err := s.ledger.QueryRow(`SELECT stage FROM depositpay_payments WHERE payment_id = '` + id.String() + `'`).Scan(&stage)
		require.NoError(s.t, err, "payment %d of %d was acknowledged, and the ledger does not have it", n+1, len(ids))
		require.Equal(s.t, int(inbox.StageReady), stage)
	}
}

// TestAcknowledgedAfterAFailedCommit: a commit of the intake file fails. The number of its line is free again,
// and the next acknowledged payment has it: it is in the ledger after the fold, and after a restart.
func TestAcknowledgedAfterAFailedCommit(t *testing.T) {
	s := newStand(t, false, nil)
	s.accept(nthPayment(0))
	file := s.intakeFile()
	for _, statement := range []string{
		`CREATE TABLE parent (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE child (id REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)`,
		`CREATE TRIGGER refuse AFTER INSERT ON intake BEGIN INSERT INTO child VALUES (1); END`,
	} {
		_, err := file.Exec(statement)
		require.NoError(t, err)
	}
	require.ErrorContains(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)), "FOREIGN KEY constraint failed")
	require.NoError(t, inbox.Fold(s.box))
	_, err := s.box.Get(t.Context(), nthPayment(1).ID.String())
	require.ErrorIs(t, err, inbox.ErrNotFound, "it was refused")

	_, err = file.Exec(`DROP TRIGGER refuse`)
	require.NoError(t, err)
	s.accept(nthPayment(2))
	s.requireReady(nthPayment(2).ID)
	s.box = s.open()
	require.NoError(t, inbox.Fold(s.box))
	s.requireReady(nthPayment(2).ID)
}

// TestIntakeForgetsNoLineTooMany: each acknowledged payment is in the ledger, whether it was folded in one batch
// or several, before a crash or after it.
func TestIntakeForgetsNoLineTooMany(t *testing.T) {
	const lines = 40 // more than two folds take
	var all []uuid.UUID
	s := newStand(t, false, nil)
	accept := func(n int) {
		all = append(all, nthPayment(n).ID)
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(n)))
	}
	t.Run("Folded", func(t *testing.T) {
		for n := range lines {
			accept(n)
		}
		require.NoError(t, inbox.Fold(s.box))
		s.requireReady(all...)
	})
	t.Run("Crashed", func(t *testing.T) {
		// The first of these finds that all before it are folded, and drops their lines.
		for n := range 3 {
			accept(lines + n)
		}
		s.crash()
		require.NoError(t, inbox.Fold(s.box))
		s.requireReady(all...)
	})
	t.Run("Unfolded", func(t *testing.T) {
		accept(lines + 3)
		s.crash()
		accept(lines + 4)
		for _, id := range all[lines+3:] {
			state, err := s.box.Webhook().State(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, webhook.StateHandled, state)
		}
		require.NoError(t, inbox.Fold(s.box))
		s.requireReady(all...)
	})
}

// TestRecoveryFailsOnce: what a dead poller received cannot be stored at first. It is taken in by the next
// reconciliation, and only then the report says so.
func TestRecoveryFailsOnce(t *testing.T) {
	const takenIn = "is taken in"
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		s.strange(1)
		id := s.pollAndDie(s.box)
		require.NoError(t, inbox.Fold(s.box))
		s.crash()
		refuse, allow := `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room' USING ERRCODE = '53100'; END $$;
			CREATE TRIGGER refuse BEFORE INSERT ON depositpay_payments FOR EACH STATEMENT EXECUTE FUNCTION refuse()`, `DROP TRIGGER refuse ON depositpay_payments`
		db := s.ledger
		if !pg {
			refuse, allow = `CREATE TRIGGER refuse BEFORE INSERT ON intake BEGIN SELECT RAISE(ABORT, 'no room'); END`, `DROP TRIGGER refuse`
			db = s.intakeFile()
		}
		_, err := db.Exec(refuse)
		require.NoError(t, err)
		_, err = s.box.Reconcile(t.Context())
		require.ErrorContains(t, err, "no room")
		losses, err := inbox.PossibleLosses(s.box)
		require.NoError(t, err)
		require.Len(t, losses, 1)
		require.NotContains(t, losses[0].Reason, takenIn)

		_, err = db.Exec(allow)
		require.NoError(t, err)
		s.reconcile()
		require.NoError(t, inbox.Fold(s.box))
		s.requireReady(id)
	})
}

// TestOneOrderForTwoPayments: two payments of one identifier are handed over at once, and there is one open
// order. One of them is granted; the other fails, and goes to review at its next try.
func TestOneOrderForTwoPayments(t *testing.T) {
	inside, proceed := make(chan struct{}), make(chan struct{})
	var first sync.Once
	s := newStand(t, true, func(c *inbox.Config) {
		c.AcceptUnknown = false
		c.Handler = func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			first.Do(func() {
				close(inside)
				<-proceed
			})
			return grant(ctx, tx, p)
		}
	})
	s.do(`INSERT INTO depositpay_orders (order_id, identifier, amount, items, created_at) VALUES ('order', 'customer', '7', 'null', 1)`)
	for n := range 2 {
		p := nthPayment(n)
		p.Identifier, p.PaidAmount = "customer", payments.NewAmount(7)
		s.accept(p)
	}
	claims := s.claim()
	require.Len(t, claims, 2)
	ends, errs := make([]string, 2), make([]error, 2)
	var handlers sync.WaitGroup
	handle := func(n int) {
		handlers.Go(func() { ends[n], errs[n] = inbox.HandleOnce(s.box, &claims[n]) })
	}
	handle(0)
	<-inside
	handle(1)
	s.awaitLock("transactionid") // it has found the order open, and waits for anyone who takes it
	close(proceed)
	handlers.Wait()
	require.Equal(t, make([]error, 2), errs)
	require.Equal(t, []string{inbox.EndedDone, inbox.EndedFailed}, ends)
	require.Equal(t, 1, books{t, s.ledger}.number(`SELECT count(*) FROM effects`), "one order was granted twice")

	s.do(`UPDATE {p}payments SET run_at = 1 WHERE stage = {ready}`)
	claims = s.claim()
	require.Len(t, claims, 1)
	ended, err := inbox.HandleOnce(s.box, &claims[0])
	require.NoError(t, err)
	require.Equal(t, inbox.EndedReview, ended)
}
