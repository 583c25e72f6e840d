package inboxtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

var errNotPaid = &payments.Error{Op: "Confirm", Code: "NOT_PAID"}

// doubter is a service whose answers to confirms are set: no answer, unless one is.
type doubter struct {
	inbox.Client
	mu   sync.Mutex
	says map[uuid.UUID]func() error
}

// doubtful opens a shop that asks a doubter, as often as it is due.
func doubtful(t *testing.T, open func(*testing.T) Database, maxHints int) (*shop, *doubter) {
	d := &doubter{says: map[uuid.UUID]func() error{}}
	return newShop(t, open, func(c *inbox.Config) {
		d.Client, c.Client = c.Client, d
		c.AcceptUnknown, c.MaxHints, c.ConfirmRate, c.ReconcileEvery = true, maxHints, 10_000, -1
	}), d
}

func (d *doubter) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	d.mu.Lock()
	says := d.says[id]
	d.mu.Unlock()
	if says == nil {
		return payments.Payment{}, payments.ErrAmbiguous
	}
	return payments.Payment{}, says()
}

func (d *doubter) say(id uuid.UUID, says func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.says[id] = says
}

// noted are ids that webhooks have named just now.
func (s *shop) noted(n int) (ids []uuid.UUID) {
	s.t.Helper()
	for range n {
		ids = append(ids, uuid.New())
		require.NoError(s.t, s.box.Webhook().RecordHint(s.t.Context(), ids[len(ids)-1]))
	}
	return ids
}

// refused is an id that a webhook has named, and to whose confirm the service has said no.
func (s *shop) refused() uuid.UUID {
	s.t.Helper()
	id := s.noted(1)[0]
	require.NoError(s.t, s.box.Webhook().ConfirmFailed(s.t.Context(), id, errNotPaid))
	s.awaitConfirm(id, inbox.ConfirmRejected)
	return id
}

func (s *shop) awaitConfirm(id uuid.UUID, want inbox.ConfirmState) {
	s.t.Helper()
	var e inbox.Entry
	require.Eventually(s.t, func() bool {
		var err error
		e, err = s.box.Get(s.t.Context(), id.String())
		return err == nil && e.Confirm == want
	}, timeLimit, tickTime, "Confirm of %s must be %q, is %+v", id, want, &e)
}

// requireHints waits until the inbox has asked about the ids for the n-th time and has written down how that
// ended, and requires their reasons.
func (s *shop) requireHints(d *doubter, n int64, states map[uuid.UUID]inbox.ConfirmState) {
	s.t.Helper()
	var e inbox.Entry
	for id := range states {
		require.Eventually(s.t, func() bool {
			var err error
			e, err = s.box.Get(s.t.Context(), id.String())
			return err == nil && e.Stage == inbox.StageHint && e.Attempt == n
		}, timeLimit, tickTime, "%s must be asked about for the %d. time, is %+v", id, n, &e)
	}
	s.awaitAsks(d)
	for id, want := range states {
		e := s.entry(id.String())
		require.Equal(s.t, want, e.Confirm, "%+v", e)
	}
}

func (s *shop) requireHint(d *doubter, n int64, id uuid.UUID, want inbox.ConfirmState) {
	s.t.Helper()
	s.requireHints(d, n, map[uuid.UUID]inbox.ConfirmState{id: want})
}

// awaitAsks waits until those confirms are over that have begun: the inbox makes one after the other.
func (s *shop) awaitAsks(d *doubter) {
	s.t.Helper()
	asked := make(chan struct{}, 1)
	own := s.order("order-1", 1)
	d.say(own, func() error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return errNotPaid
	})
	s.dueNow(inbox.StageExpected, own)
	select {
	case <-asked:
	case <-time.After(timeLimit):
		require.Fail(s.t, "the inbox asks about nothing")
	}
}

// runReconciled is run, and the reconciliation of the start, which makes hints due, is over.
func (s *shop) runReconciled() {
	s.t.Helper()
	s.run()
	require.Eventually(s.t, func() bool {
		_, err := s.box.LastReport(s.t.Context())
		return err == nil
	}, timeLimit, tickTime)
}

// dueNow waits until the ids are in the ledger, and makes them due.
func (s *shop) dueNow(stage inbox.Stage, ids ...uuid.UUID) {
	s.t.Helper()
	for _, id := range ids {
		s.await(id.String(), stage)
		s.exec(`UPDATE depositpay_payments SET run_at = 0 WHERE payment_id = '%s'`, id)
	}
}

// testDoubt: a hint is in doubt from before its confirm is sent until the service has said
// no to this very id.
func testDoubt(t *testing.T, open func(*testing.T) Database) {
	s, d := doubtful(t, open, 1000)
	s.runReconciled()
	want := map[uuid.UUID]inbox.ConfirmState{}
	for state, errs := range map[inbox.ConfirmState][]error{
		inbox.ConfirmRejected: {errNotPaid, fmt.Errorf("wrapped: %w", errNotPaid), &payments.Error{Code: "NO_SUCH_PAYMENT", HTTPStatus: 404}},
		inbox.ConfirmUnknown: {
			&payments.Error{Op: "Confirm", Code: "NOT_PAID", Attempts: 2}, // the first one may be carried out yet
			payments.ErrAmbiguous, payments.ErrUndecodable, payments.ErrNotComplete, payments.ErrWrongPayment,
			context.DeadlineExceeded, errors.New("no connection"), &payments.Error{HTTPStatus: 404},
			errors.Join(errNotPaid, payments.ErrAmbiguous), errors.Join(errNotPaid, payments.ErrTokenRefused),
			&payments.Error{Code: "TOO_MANY", HTTPStatus: 429}, &payments.Error{Code: "BUSY", HTTPStatus: 503},
		},
	} {
		for _, err := range errs {
			id := s.refused()
			d.say(id, func() error { return err })
			want[id] = state
		}
	}
	s.dueNow(inbox.StageHint, slices.Collect(maps.Keys(want))...)
	s.requireHints(d, 1, want)

	twice := s.noted(1)[0]
	d.say(twice, func() error { return errNotPaid })
	s.dueNow(inbox.StageHint, twice)
	s.requireHint(d, 1, twice, inbox.ConfirmUnknown) // how the webhook's confirm ended, nobody knows
	require.NoError(t, s.box.Webhook().ConfirmFailed(t.Context(), twice, errNotPaid))
	s.dueNow(inbox.StageHint, twice)
	s.requireHint(d, 2, twice, inbox.ConfirmUnknown) // and it stays so

	id := s.refused()
	d.say(id, func() error { return errNotPaid })
	s.dueNow(inbox.StageHint, id)
	s.requireHint(d, 1, id, inbox.ConfirmRejected)
	sent := make(chan inbox.Entry, 1)
	d.say(id, func() error {
		e, err := s.box.Get(context.Background(), id.String())
		sent <- e
		return errors.Join(err, errNotPaid)
	})
	s.dueNow(inbox.StageHint, id)
	e := <-sent
	require.Equal(t, inbox.ConfirmAsked, e.Confirm, "it may be killed here")
	s.requireHint(d, 2, id, inbox.ConfirmRejected)

	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	s.awaitConfirm(id, inbox.ConfirmNamed) // its webhook is about to confirm it
	require.NoError(t, s.box.Webhook().ConfirmFailed(t.Context(), id, errNotPaid))
	s.awaitConfirm(id, inbox.ConfirmRejected)
	d.say(id, func() error { // the webhook comes while the inbox asks
		err := s.box.Webhook().RecordHint(context.Background(), id)
		var e inbox.Entry
		for until := time.Now().Add(timeLimit); err == nil && time.Now().Before(until); <-time.After(tickTime) {
			if e, err = s.box.Get(context.Background(), id.String()); e.Confirm == inbox.ConfirmUnknown {
				break // it is in the ledger
			}
		}
		sent <- e
		return errors.Join(err, errNotPaid)
	})
	s.dueNow(inbox.StageHint, id)
	require.Equal(t, inbox.ConfirmUnknown, (<-sent).Confirm)
	s.requireHint(d, 3, id, inbox.ConfirmUnknown)

	id = s.refused()
	d.say(id, func() error { // it is given up while the inbox asks, and the answer is lost
		_, err := s.db.Ledger.ExecContext(context.Background(), fmt.Sprintf(`DELETE FROM depositpay_payments WHERE payment_id = '%s'`, id))
		sent <- inbox.Entry{}
		return errors.Join(err, payments.ErrAmbiguous)
	})
	s.dueNow(inbox.StageHint, id)
	<-sent
	s.await(id.String(), inbox.StageHint)
}

// testReconcileWithoutAnswer: an answer that is not about the payment says nothing of it, and
// the payment is asked about again soon. Only a no waits for the next reconciliation.
func testReconcileWithoutAnswer(t *testing.T, open func(*testing.T) Database) {
	s, d := doubtful(t, open, 10)
	says := map[string]error{
		"rate": &payments.Error{Code: "TOO_MANY", HTTPStatus: 429}, "busy": &payments.Error{Code: "BUSY", HTTPStatus: 503},
		"token": errors.Join(errNotPaid, payments.ErrTokenRefused), "lost": payments.ErrAmbiguous, "no": errNotPaid,
	}
	ids := map[string]uuid.UUID{}
	for name, err := range says {
		ids[name] = s.order(name, 1)
		d.say(ids[name], func() error { return err })
	}
	report := s.reconcile()
	require.Equal(t, []int{5, 0, 1, 4}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed})
	for name, id := range ids {
		var dueAt int64
		err := s.db.Ledger.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT run_at FROM depositpay_payments WHERE payment_id = '%s'`, id)).Scan(&dueAt)
		require.NoError(t, err)
		require.Equal(t, name == "no", dueAt > time.Now().Add(24*time.Hour).UnixMicro(), name)
	}
}

// testDoubtfulHints: those in doubt are never given up. If there are as many as may be, new ids are
// refused before they are confirmed, and there is room again once the service has said no to one.
func testDoubtfulHints(t *testing.T, open func(*testing.T) Database) {
	s, d := doubtful(t, open, 3)
	s.runReconciled()
	hook, err := webhook.New(webhook.Config{Client: d, Ledger: s.box.Webhook()})
	require.NoError(t, err)
	lost := s.noted(2)
	s.dueNow(inbox.StageHint, lost...)
	s.requireHints(d, 1, map[uuid.UUID]inbox.ConfirmState{lost[0]: inbox.ConfirmUnknown, lost[1]: inbox.ConfirmUnknown})
	var refused []uuid.UUID
	for range 3 {
		refused = append(refused, s.refused())
		for _, id := range refused[:len(refused)-1] {
			require.Eventually(t, func() bool {
				_, err := s.box.Get(t.Context(), id.String())
				return errors.Is(err, inbox.ErrNotFound)
			}, timeLimit, tickTime, "%s must go: it is one too many", id)
		}
	}
	last := s.noted(1)[0]
	s.await(last.String(), inbox.StageHint)
	new := uuid.New()
	require.ErrorIs(t, s.box.Webhook().RecordHint(t.Context(), new), webhook.ErrFull)
	require.Equal(t, 429, post(hook, new))
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), lost[0]), "it is not new")
	p := paid("", 1)
	p.ID = lost[1]
	s.accept(p) // it was complete
	s.requireGrantedOnce(p.ID.String())
	s.await(lost[0].String(), inbox.StageHint)

	s.await(s.noted(1)[0].String(), inbox.StageHint)
	require.ErrorIs(t, s.box.Webhook().RecordHint(t.Context(), new), webhook.ErrFull)
	require.NoError(t, s.box.Webhook().ConfirmFailed(t.Context(), last, errNotPaid))
	s.awaitConfirm(last, inbox.ConfirmRejected)
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), new))
	status, err := s.box.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(3), status.TurnedAway)
}

// testFloodIsNoLoss: the webhook's own confirms count. What the service has refused to it
// may be given up, and the one whose answer was lost stays.
func testFloodIsNoLoss(t *testing.T, open func(*testing.T) Database) {
	s, d := doubtful(t, open, 10)
	s.runReconciled()
	hook, err := webhook.New(webhook.Config{Client: d, Ledger: s.box.Webhook(), RefusedInterval: -1})
	require.NoError(t, err)
	forged := func() uuid.UUID {
		id := uuid.New()
		d.say(id, func() error { return errNotPaid })
		require.Equal(t, 429, post(hook, id))
		return id
	}
	lost, twice := uuid.New(), forged()
	require.Equal(t, 429, post(hook, lost))
	s.awaitConfirm(twice, inbox.ConfirmRejected)
	d.say(twice, nil)
	require.Equal(t, 429, post(hook, twice))
	s.awaitConfirm(twice, inbox.ConfirmUnknown) // its second answer was lost
	var last uuid.UUID
	for range 40 {
		last = forged()
	}
	s.awaitConfirm(last, inbox.ConfirmRejected)
	require.Eventually(t, func() bool {
		status, err := s.box.Status(t.Context())
		return err == nil && status.Count[inbox.StageHint] == 10 && status.EvictedHints == 32
	}, timeLimit, tickTime)
	s.awaitConfirm(lost, inbox.ConfirmUnknown)
	s.awaitConfirm(twice, inbox.ConfirmUnknown)
}
