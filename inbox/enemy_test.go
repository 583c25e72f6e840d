package inbox_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

func each2(t *testing.T, f func(t *testing.T, pg bool)) {
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) { f(t, pg) })
	}
}

func (s *stand) crash() {
	s.do(`UPDATE depositpay_polls SET beat_at = 1`)
	s.box = s.open()
}

// TestTwoPollersShareAnInbox: one ends cleanly while the poll of the other is under way, and the process dies.
func TestTwoPollersShareAnInbox(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		journalA, journalB := s.box.Poller().Begin(), s.box.Poller().Begin()
		_, err := journalA.BeforePoll(t.Context())
		require.NoError(t, err)
		ctxB, err := journalB.BeforePoll(t.Context())
		require.NoError(t, err)
		require.NoError(t, journalA.Close(t.Context())) // the token was refused, say
		s.strange(1)
		p, err := s.client.Next(ctxB) // raw is written down
		require.NoError(t, err)
		s.crash()
		r := s.reconcile()
		_ = s.entry(p.ID.String())
		require.Len(t, r.PossibleLosses, 1)
	})
}

// TestUnhandedThenCleanRun: a run ends with something that the sink did not take; a later one that ends well
// does not make it forgotten.
func TestUnhandedThenCleanRun(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		s.strange(1)
		id := s.pollAndDie(s.box) // raw is durable; Sink did not take it; Run returned UnhandedError
		journal := s.box.Poller().Begin()
		_, err := journal.BeforePoll(t.Context())
		require.NoError(t, err)
		require.NoError(t, journal.Close(t.Context()))
		s.crash()
		r := s.reconcile()
		_ = s.entry(id.String())
		require.Len(t, r.PossibleLosses, 1)
	})
}

// TestRetentionSparesWhatIsToBeRecovered: the process was away for longer than bodies are kept.
func TestRetentionSparesWhatIsToBeRecovered(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, func(c *inbox.Config) { c.KeepBodies = 24 * time.Hour })
		s.strange(1)
		if !pg { // one fold of the raw before the crash
			id := s.pollAndDie(s.box)
			s.reconcile()
			s.away(id)
			return
		}
		s.away(s.pollAndDie(s.box))
	})
}

// TestRetentionWaitsForRecovery: it does its work at the start, however late the recovery is.
func TestRetentionWaitsForRecovery(t *testing.T) {
	s := newStand(t, true, func(c *inbox.Config) { c.KeepBodies = time.Nanosecond })
	p := nthPayment(1)
	require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
	claims := s.claim()
	inbox.Handle(s.box, &claims[0])
	lock, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = lock.Exec(`LOCK TABLE depositpay_polls IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	defer running(t, s.box)()
	s.awaitLock("relation")
	require.NoError(t, lock.Rollback())
	require.Eventually(t, func() bool {
		receipts := s.received(p.ID.String())
		return len(receipts) == 1 && receipts[0].Body == ""
	}, patience, 5*time.Millisecond)
}

func (s *stand) away(id uuid.UUID) {
	t := s.t
	s.do(`UPDATE depositpay_receipts SET at = at - 172800000000`)
	s.crash()
	require.NoError(t, inbox.DropBodies(s.box)) // Run's retention loop is first
	s.reconcile()
	_ = s.entry(id.String())
}

// a bind waits for the handler that has taken its order by identifier, and all acceptances with it

// TestBindDoesNotWaitForAHandler: the handler has taken the order that is being bound.
func TestBindDoesNotWaitForAHandler(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		in, out := make(chan struct{}), make(chan struct{})
		s := newStand(t, pg, func(c *inbox.Config) {
			c.AcceptUnknown = false
			c.Handler = func(context.Context, *sql.Tx, payments.Payment) error { close(in); <-out; return nil }
		})
		lane := s.sameLane(2)
		p := lane[0]
		slow := &slowCreate{Client: s.client, id: p.ID, reached: make(chan struct{}), answer: make(chan struct{})}
		s.cfg.Client = slow
		s.box = s.open()
		stop := running(t, s.box)
		created := make(chan error, 1)
		go func() {
			_, err := s.box.Create(context.Background(), payments.CreateRequest{Title: "x", Identifier: p.Identifier, Amount: p.PaidAmount})
			created <- err
		}()
		<-slow.reached
		require.NoError(t, s.box.Webhook().Accept(t.Context(), p)) // record is faster than the answer of Create
		<-in
		close(slow.answer)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		bound := ctx.Err
		select {
		case err := <-created:
			bound = func() error { return err }
		case <-ctx.Done():
		}
		err := s.box.Webhook().Accept(ctx, lane[1])
		close(out)
		stop()
		require.NoError(t, bound(), "the order's payment is registered while its handler runs")
		require.NoError(t, err, "an acceptance of another payment, while a handler runs")
	})
}

type slowCreate struct {
	inbox.Client
	id              uuid.UUID
	reached, answer chan struct{}
}

func (c *slowCreate) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	close(c.reached)
	<-c.answer
	return payments.Created{PayToken: c.id}, nil
}

// TestLateOwnPayment: an own payment that reconciliation asks for no more is paid; the confirm of its webhook
// is lost after it has completed the payment.
func TestLateOwnPayment(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		created, err := s.box.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "o", Amount: payments.NewAmount(1000)})
		require.NoError(t, err)
		s.reconcile()
		s.do(`UPDATE depositpay_payments SET first_seen = first_seen - 8 * 86400000000`)
		_, err = s.mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
		require.NoError(t, err)
		s.crash() // another process, days later
		standing, err := s.box.Webhook().State(t.Context(), created.PayToken)
		require.NoError(t, err)
		require.Equal(t, webhook.StateUnknown, standing, "the webhook is to write it down first")
		require.NoError(t, s.box.Webhook().RecordHint(t.Context(), created.PayToken))
		_, err = s.client.Confirm(t.Context(), created.PayToken)
		require.NoError(t, err)
		s.crash()
		s.reconcile()
		e := s.entry(created.PayToken.String())
		require.NotZero(t, e.RunAt, "its confirm is due")
	})
}

// TestRecoveredRecordDiffers: what a dead poller left says something else than the record in review.
func TestRecoveredRecordDiffers(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		s.strange(1)
		id := s.pollAndDie(s.box)
		zero := nthPayment(1)
		zero.ID, zero.PaidAmount = id, payments.NewAmount(0)
		require.NoError(t, s.box.Webhook().Accept(t.Context(), zero))
		stop := running(t, s.box)
		awaitStage(t, s.box, id.String(), inbox.StageReview)
		stop()
		s.crash()
		stop = running(t, s.box)
		defer stop()
		require.Eventually(t, func() bool { _, err := s.box.LastReport(t.Context()); return err == nil }, 10*time.Second, time.Millisecond)
		awaitStage(t, s.box, id.String(), inbox.StageDone)
	})
}

// TestLateExpect: the order is registered after its record was found to have none.
func TestLateExpect(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, func(c *inbox.Config) { c.AcceptUnknown = false })
		p := nthPayment(1)
		stop := running(t, s.box)
		defer stop()
		require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
		awaitStage(t, s.box, p.ID.String(), inbox.StageReview)
		require.NoError(t, s.box.Expect(t.Context(), p.ID, payments.CreateRequest{Title: "x", Identifier: p.Identifier, Amount: p.PaidAmount}))
		require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
		awaitStage(t, s.box, p.ID.String(), inbox.StageDone)
	})
}

// TestClockSetBack: the clock stands an hour earlier after the crash.
func TestClockSetBack(t *testing.T) {
	s := newStand(t, false, nil)
	s.strange(1)
	id := s.pollAndDie(s.box)
	s.do(`UPDATE depositpay_polls SET beat_at = beat_at + 3600000000, opened_at = opened_at + 3600000000`)
	s.box = s.open()
	s.reconcile()
	_ = s.entry(id.String())
}

// the fold after the writer's connection was replaced

// TestFoldAfterReconnect: the fold, after the connection of the writer was replaced.
func TestFoldAfterReconnect(t *testing.T) {
	s := newStand(t, false, nil)
	for i := range 5 {
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(i)))
		c, err := s.ledger.Conn(t.Context())
		require.NoError(t, err)
		_ = c.Raw(func(any) error { return driver.ErrBadConn })
		_ = c.Close()
		s.reconcile()
	}
	st := s.status()
	require.EqualValues(t, 5, st.Count[inbox.StageReady])
}

// records with odd text

// TestOddRecords: records with odd texts are taken by both databases.
func TestOddRecords(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		for i, who := range []string{"a\x00b", "a\\u0000b", `\ud800`, "\u2028", `"\`, "base64:xx", ""} {
			p := nthPayment(i)
			p.Identifier = who
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p), "%q", who)
			s.reconcile()
			e := s.entry(p.ID.String())
			require.Equal(t, who, e.Payment.Identifier)
		}
		for i, raw := range []string{`{"x":"\u0000"}`, `{"x":"\ud800"}`, "{\"x\":\"\xff\"}", `{"x":1e400}`} {
			id := uuid.New()
			doc := fmt.Sprintf(`{"id":%q,"status":"COMPLETE","paid_amount":5,"identifier":"a\u0000%d","y":%s}`, id, i, raw)
			p, err := s.client.Decode([]byte(doc))
			if err != nil {
				continue
			}
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p), "%q", raw)
			s.reconcile()
			e := s.entry(id.String())
			require.Empty(t, e.Unreadable)
			require.Equal(t, p.Identifier, e.Payment.Identifier)
			require.Equal(t, p.PaidAmount, e.Payment.PaidAmount)
		}
	})
}

// TestRefusedRawBody: a record that the ledger refuses stands among what a dead poller left.
func TestRefusedRawBody(t *testing.T) {
	s := newStand(t, true, nil)
	created, err := s.box.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "own", Amount: payments.NewAmount(1000)})
	require.NoError(t, err)
	journal := s.box.Poller().Begin()
	s.strange(1)
	a := s.poll(journal)
	s.strange(2)
	b := s.poll(journal)
	s.do(`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.payment_id = '` + a.String() + `' THEN RAISE 'no' USING ERRCODE = '22000'; END IF; RETURN NEW; END $$`)
	s.do(`CREATE TRIGGER no BEFORE INSERT OR UPDATE ON depositpay_payments FOR EACH ROW EXECUTE FUNCTION no()`)
	s.crash()
	r := s.reconcile()
	require.Equal(t, 1, r.Asked, created.PayToken)
	require.Len(t, r.PossibleLosses, 1)
	require.Equal(t, string(inbox.ReasonUnreadable), inReview(t, s.box)[0].Reason)
	_ = s.entry(b.String())
	require.Equal(t, 1, r.Asked)
}

// TestHandlerAfterTheSnapshot: a handler took a row after the snapshot of the acceptance that looks at it.
func TestHandlerAfterTheSnapshot(t *testing.T) {
	in, out := make(chan struct{}), make(chan struct{})
	var slow uuid.UUID
	s := newStand(t, true, func(c *inbox.Config) {
		c.Handler = func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			if p.ID == slow {
				close(in)
				<-out
			}
			return nil
		}
	})
	lane := s.sameLane(4)
	a, b, leader, last := lane[0], lane[1], lane[2], lane[3]
	if a.ID.String() > b.ID.String() {
		a, b = b, a
	}
	slow = b.ID
	for _, p := range []payments.Payment{a, b} {
		require.NoError(t, s.box.Expect(t.Context(), p.ID, payments.CreateRequest{Title: "x", Identifier: p.Identifier, Amount: p.PaidAmount}))
	}
	require.NoError(t, s.box.Webhook().Accept(t.Context(), leader))
	other := s.open()
	hold, err := s.ledger.Begin() // what holds an unpaid row for a moment
	require.NoError(t, err)
	_, err = hold.Exec(`SELECT 1 FROM depositpay_payments WHERE payment_id = $1 FOR UPDATE`, a.ID.String())
	require.NoError(t, err)
	first := make(chan error, 3)
	accept := func(p payments.Payment) { first <- s.box.Webhook().Accept(context.Background(), p) }
	// A repeat whose receipt must wait holds the leader up, so that the two gather.
	lock, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = lock.Exec(`LOCK TABLE depositpay_receipts IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	go accept(leader)
	s.awaitLock("relation")
	go accept(a)
	go accept(b)
	s.awaitQueued(2)
	require.NoError(t, lock.Rollback())
	s.awaitQueued(0)
	s.awaitLock("transactionid") // the group waits for a
	require.NoError(t, other.Webhook().Accept(t.Context(), b))
	stop := running(t, other)
	<-in
	require.NoError(t, hold.Rollback())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	got := s.box.Webhook().Accept(ctx, last) // behind that group
	close(out)
	for range 3 {
		require.NoError(t, <-first)
	}
	stop()
	require.NoError(t, got, "an acceptance while a handler runs")
}

// TestDiffersInTheInstantOfReview: a record that says something else comes while the
// payment goes to review, seen from neither side. It gets its look all the same.
func TestDiffersInTheInstantOfReview(t *testing.T) {
	for name, acceptFirst := range map[string]bool{"AcceptedFirst": true, "ReviewedFirst": false} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, true, func(c *inbox.Config) { c.AcceptUnknown = false })
			// Anyone who writes this waits in its commit for the lock of the same number.
			table, lock := "payments", inbox.SQL("WHEN (NEW.stage = {review})")
			if !acceptFirst {
				table, lock = "receipts", "WHEN (NEW.outcome = 'differs')"
			}
			for _, statement := range []string{
				`CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$`,
				`CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON depositpay_` + table + ` DEFERRABLE INITIALLY DEFERRED FOR EACH ROW ` + lock + ` EXECUTE FUNCTION late()`,
			} {
				s.do(statement)
			}
			p := nthPayment(0)
			second := p
			second.PaidAmount = payments.NewAmount(777)
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			hold, err := s.ledger.Conn(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, hold.Close()) }()
			_, err = hold.ExecContext(t.Context(), `SELECT pg_advisory_lock(7)`)
			require.NoError(t, err)
			accepted := make(chan error, 1)
			accept := func() { accepted <- s.box.Webhook().Accept(context.Background(), second) }
			inReview := func() bool {
				e, err := s.box.Get(t.Context(), p.ID.String())
				return err == nil && e.Stage == inbox.StageReview
			}
			if acceptFirst {
				stop := running(t, s.box)
				defer stop()
				s.awaitLock("advisory")
				go accept()
				s.awaitLocks("advisory", 2) // it may not overtake what it did not see
			} else {
				go accept()
				s.awaitLock("advisory")
				stop := running(t, s.box)
				defer stop()
				require.Eventually(t, inReview, patience, time.Millisecond)
			}
			_, err = hold.ExecContext(t.Context(), `SELECT pg_advisory_unlock(7)`)
			require.NoError(t, err)
			require.NoError(t, <-accepted)
			e := s.entry(p.ID.String())
			require.Equal(t, second.PaidAmount, e.Payment.PaidAmount, "what is acknowledged counts, anyone who dies now")
			require.Eventually(t, inReview, patience, time.Millisecond, "the second record has had its look")
			receipts := s.received(p.ID.String())
			bodies := map[string]int{}
			for _, r := range receipts {
				if r.Channel != 0 {
					bodies[r.Body]++
				}
			}
			require.Len(t, bodies, 2, receipts)
		})
	}
}

// failing is a ledger that accepts nothing while fail is set.
type failing struct {
	poller.Ledger
	fail bool
}

func (f *failing) Accept(ctx context.Context, p payments.Payment) error {
	if f.fail {
		return errors.New("not now")
	}
	return f.Ledger.Accept(ctx, p)
}

// TestUnhandedByAPoller: a real poller ends with something in hand, another run ends well, and the next start finds it.
func TestUnhandedByAPoller(t *testing.T) {
	s := newStand(t, false, nil)
	s.strange(1)
	ledger := &failing{s.box.Poller(), true}
	p, err := poller.New(poller.Config{Client: s.client, Ledger: ledger, ShutdownTimeout: time.Second, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	run := func(until func() bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		require.Eventually(t, until, 5*time.Second, time.Millisecond)
		cancel()
		return <-done
	}
	err = run(func() bool { return p.Stats().Received == 1 })
	var u *poller.UnhandedError
	require.ErrorAs(t, err, &u)
	ledger.fail = false
	n := p.Stats().Empty
	require.NoError(t, run(func() bool { return p.Stats().Empty > n }))
	s.box = s.open()
	s.reconcile()
	_ = s.entry(u.Payments[0].ID.String())
}

type lossy struct{ *payments.Client }

func (l lossy) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	_, _ = l.Client.Confirm(ctx, id) // completes it
	return payments.Payment{}, payments.ErrAmbiguous
}

// TestAmbiguousOwnConfirm: the confirm of an own payment's webhook is lost: it becomes due.
func TestAmbiguousOwnConfirm(t *testing.T) {
	s := newStand(t, false, nil)
	stop := running(t, s.box)
	defer stop()
	require.Eventually(t, func() bool { _, err := s.box.LastReport(t.Context()); return err == nil }, 5*time.Second, time.Millisecond)
	created, err := s.box.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "o", Amount: payments.NewAmount(1000)})
	require.NoError(t, err)
	_, err = s.mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
	require.NoError(t, err)
	hook, err := webhook.New(webhook.Config{Client: lossy{s.client}, Ledger: s.box.Webhook(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(`{"payment_id":"`+created.PayToken.String()+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	hook.ServeHTTP(w, r)
	require.Equal(t, 429, w.Code)
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), created.PayToken.String())
		return err == nil && !e.RunAt.IsZero()
	}, patience, time.Millisecond, "its confirm is due")
}

// TestSwallowedRollback: a handler on SQLite overlooks an error that ended its transaction.
func TestSwallowedRollback(t *testing.T) {
	s := newStand(t, false, func(c *inbox.Config) {
		c.BackoffMin, c.BackoffMax = time.Millisecond, 2*time.Millisecond
		c.MaxAttempts = 4
		c.Handler = func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			_, _ = tx.ExecContext(ctx, `INSERT OR ROLLBACK INTO once (a) VALUES (1)`)
			return grant(ctx, tx, p)
		}
	})
	s.do(`CREATE TABLE once (a INTEGER PRIMARY KEY)`)
	s.do(`INSERT INTO once VALUES (1)`)
	require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
	stop := running(t, s.box)
	awaitStage(t, s.box, nthPayment(1).ID.String(), inbox.StageDead)
	stop()
	var n int
	require.NoError(t, s.ledger.QueryRow(`SELECT count(*) FROM effects`).Scan(&n))
	require.LessOrEqual(t, n, 1, "effects")
}
