package inboxtest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// due makes everything that waits due now.
func (s *shop) due() {
	s.t.Helper()
	s.exec(`UPDATE depositpay_payments SET run_at = 0 WHERE stage = %d`, inbox.StageHint)
}

// strange creates a payment that the inbox does not know of.
func (s *shop) strange(identifier string, amount int64) uuid.UUID {
	s.t.Helper()
	created, err := s.client.Create(s.t.Context(), request(identifier, amount))
	require.NoError(s.t, err)
	return created.PayToken
}

// testHint: an id that a webhook named is confirmed by the inbox itself, if the process
// that took the webhook did not get to it.
func testHint(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	id := s.strange("order-1", 500)
	s.deposit(id, 500)
	standing, err := s.box.Webhook().State(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, webhook.StateUnknown, standing)
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	s.reopen() // killed before the confirm
	e, err := s.box.Get(t.Context(), id.String())
	if err == nil { // on SQLite it may not be in the ledger yet
		require.Equal(t, inbox.StageHint, e.Stage)
	}
	s.run()
	s.requireGrantedOnce(id.String())
}

// testForgedHint: the payer knows the id and names it before paying. The "no" of the
// service is not final.
func testForgedHint(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	id := s.order("order-1", 10000)
	hook, err := webhook.New(webhook.Config{Client: s.client, Ledger: s.box.Webhook(), RefusedInterval: -1})
	require.NoError(t, err)
	require.Equal(t, 429, post(hook, id), "not paid yet")
	require.Equal(t, 429, post(hook, id))
	standing, err := s.box.Webhook().State(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, webhook.StateExpected, standing)
	s.deposit(id, 10000)
	require.Equal(t, 200, post(hook, id))
	s.requireGrantedOnce(id.String())
	require.Equal(t, 200, post(hook, id), "a repeat")

	// The same for an id that the inbox did not create: the hint is asked again.
	id = s.strange("player-1", 500)
	require.Equal(t, 429, post(hook, id))
	s.await(id.String(), inbox.StageHint)
	require.Equal(t, 429, post(hook, id), "a no is no mark")
	s.due()
	s.asked(id, 1, time.Second, 20*time.Second)
	s.exec(`UPDATE depositpay_payments SET tries = 30 WHERE stage = %d`, inbox.StageHint)
	s.due()
	s.asked(id, 2, 10*time.Minute, 2*time.Hour)
	s.deposit(id, 500)
	s.due()
	require.Equal(t, string(inbox.ReasonUnknownOrder), s.await(id.String(), inbox.StageReview).Reason)
}

// asked waits until the inbox has asked the service about a hint for the n-th time, and
// has put the next time off by a wait between two bounds.
func (s *shop) asked(id uuid.UUID, n int64, low, high time.Duration) {
	s.t.Helper()
	var e inbox.Entry
	require.Eventually(s.t, func() bool {
		var err error
		e, err = s.box.Get(s.t.Context(), id.String())
		wait := time.Until(e.RunAt)
		return err == nil && e.Stage == inbox.StageHint && e.Attempt == n && wait > low && wait < high
	}, timeLimit, tickTime, "%s must wait after its confirm %d, is %+v", id, n, &e)
}

// testHintsBounded: strangers' ids do not fill the ledger; the oldest that the service has
// refused go first, and our own stay.
func testHintsBounded(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.MaxHints = 20 })
	own := s.order("order-1", 10000)
	s.runReconciled()
	first, last := s.refused(), uuid.Nil
	for range 39 {
		last = s.refused()
	}
	require.Eventually(t, func() bool {
		status, err := s.box.Status(t.Context())
		return err == nil && status.Count[inbox.StageHint] == 20 && status.EvictedHints == 20
	}, timeLimit, tickTime)
	_, err := s.box.Get(t.Context(), last.String())
	require.NoError(t, err, "the newest stays")
	_, err = s.box.Get(t.Context(), first.String())
	require.ErrorIs(t, err, inbox.ErrNotFound, "the oldest goes")
	_ = s.entry(own.String())
}

// testReconcile: what is complete at the service and was never heard of is recovered.
func testReconcile(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	lost, unpaid := s.order("order-1", 10000), s.order("order-2", 10000)
	s.deposit(lost, 10000)
	p, err := s.client.Next(t.Context()) // and the process dies with the answer
	require.NoError(t, err)
	require.Equal(t, lost, p.ID)

	_, err = s.box.LastReport(t.Context())
	require.ErrorIs(t, err, inbox.ErrNoReport)
	report := s.reconcile()
	require.Equal(t, 2, report.Asked)
	require.Equal(t, 1, report.Recovered)
	require.Equal(t, 1, report.StillUnpaid)
	require.Zero(t, report.Failed)
	require.Empty(t, report.PossibleLosses)
	kept, err := s.box.LastReport(t.Context())
	require.NoError(t, err)
	require.Equal(t, report, kept)
	s.run()
	s.requireGrantedOnce(lost.String())
	e := s.entry(unpaid.String())
	require.Equal(t, inbox.StageExpected, e.Stage)
	s.deposit(unpaid, 10000)
	s.reconcile()
	s.requireGrantedOnce(unpaid.String())
}

// testPollJournal: polls go through the journal, and a lost answer is reported and
// brought back by its id.
func testPollJournal(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	ids := []uuid.UUID{s.order("order-1", 100), s.order("order-2", 200)}
	for i, id := range ids {
		s.deposit(id, int64(100*(i+1)))
	}
	journal := s.box.Poller().Begin()
	ctx, err := journal.BeforePoll(t.Context())
	require.NoError(t, err)
	first, err := s.client.Next(ctx)
	require.NoError(t, err)
	require.NoError(t, s.box.Poller().Accept(ctx, first))

	// The second answer is lost on the way.
	second, err := s.client.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, journal.PollLost(t.Context(), payments.ErrAmbiguous))
	s.run()
	s.requireGrantedOnce(first.ID.String())
	s.requireGrantedOnce(second.ID.String())
	require.NoError(t, journal.Close(t.Context()))
	report := s.reconcile()
	require.Len(t, report.PossibleLosses, 1, "it stays in the reports")
	require.NoError(t, s.box.SettleLoss(t.Context(), report.PossibleLosses[0].ID, decision))
	require.ErrorIs(t, s.box.SettleLoss(t.Context(), report.PossibleLosses[0].ID, decision), inbox.ErrStage)
	report = s.reconcile()
	require.Empty(t, report.PossibleLosses, "until somebody has looked")
}

// abandon ends the shop's poller uncleanly, long ago.
func (s *shop) abandon() {
	s.t.Helper()
	s.reopen()
	s.exec(`UPDATE depositpay_polls SET beat_at = 1`)
}

// testUncleanPoller: an open journal whose poller is gone is a possible loss.
func testUncleanPoller(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	lost := s.order("order-1", 100)
	s.deposit(lost, 100)
	_, err := s.box.Poller().Begin().BeforePoll(t.Context())
	require.NoError(t, err)
	_, err = s.client.Next(t.Context()) // killed here
	require.NoError(t, err)
	s.abandon()
	report := s.reconcile()
	require.Len(t, report.PossibleLosses, 1)
	require.Contains(t, report.PossibleLosses[0].Reason, "unclean")
	require.Equal(t, 1, report.Recovered)
	s.run()
	s.requireGrantedOnce(lost.String())
}

// testRawPoll: what a poll returned is durable before it is read, and is taken in after
// a crash, even if no id is known.
func testRawPoll(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	id := s.strange("player-1", 100)
	s.deposit(id, 100)
	ctx, err := s.box.Poller().Begin().BeforePoll(t.Context())
	require.NoError(t, err)
	p, err := s.client.Next(ctx) // killed between this and Accept
	require.NoError(t, err)
	require.Equal(t, id, p.ID)
	s.abandon()
	s.run()
	s.requireGrantedOnce(id.String())
}

// testMigrations: at once from many, again and again, by hand, and never backwards.
func testMigrations(t *testing.T, open func(*testing.T) Database) {
	db := open(t)
	name := inbox.DialectPostgreSQL
	if db.SQLite != nil {
		name = inbox.DialectSQLite
	}
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { errs <- inbox.Migrate(t.Context(), db.Ledger, name, "") }()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	script, err := inbox.MigrationSQL(name, "by_hand_")
	require.NoError(t, err)
	_, err = db.Ledger.ExecContext(t.Context(), script)
	require.NoError(t, err)
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	cfg := inbox.Config{DB: db.DB, SQLite: db.SQLite, Client: client, Handler: grant, TablePrefix: "by_hand_", SkipMigration: true}
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, box.Webhook().Accept(t.Context(), paid("order-1", 1)))
	require.NoError(t, box.Close())

	cfg.TablePrefix = "missing_"
	_, err = inbox.Open(t.Context(), cfg)
	require.ErrorIs(t, err, inbox.ErrSchema)
	for _, prefix := range []string{"x; DROP TABLE y", "Upper_", "1x", "a-b", "a.b"} {
		require.Error(t, inbox.Migrate(t.Context(), db.Ledger, name, prefix), prefix)
	}
	_, err = db.Ledger.ExecContext(t.Context(), `UPDATE by_hand_meta SET value = '99' WHERE name = 'schema'`)
	require.NoError(t, err)
	cfg.TablePrefix = "by_hand_"
	_, err = inbox.Open(t.Context(), cfg)
	require.ErrorIs(t, err, inbox.ErrSchema)
	require.ErrorContains(t, err, "99")
	require.ErrorIs(t, inbox.Migrate(t.Context(), db.Ledger, name, "by_hand_"), inbox.ErrSchema)
}

func testList(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	s.run()
	var want []string
	for range 450 {
		p := paid("order-1", 1)
		want = append(want, p.ID.String())
		s.accept(p)
	}
	for _, id := range want {
		s.await(id, inbox.StageDone)
	}
	keys := func(f inbox.Filter) (keys []string) {
		for e, err := range s.box.List(t.Context(), f) {
			require.NoError(t, err)
			keys = append(keys, e.Key)
		}
		return keys
	}
	require.ElementsMatch(t, want, keys(inbox.Filter{}))
	require.ElementsMatch(t, want, keys(inbox.Filter{Stages: []inbox.Stage{inbox.StageDone, inbox.StageDead}, Identifier: "order-1"}))
	require.Empty(t, keys(inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}}))
	require.Empty(t, keys(inbox.Filter{Identifier: "order-2"}))
	require.Len(t, keys(inbox.Filter{Limit: 250}), 250)
	for _, err := range s.box.List(t.Context(), inbox.Filter{}) {
		require.NoError(t, err)
		break // a reader may leave at any time
	}
	status, err := s.box.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(450), status.Count[inbox.StageDone])
	require.Zero(t, status.OldestReady)
}

// testRetention: bodies go, ids and marks stay.
func testRetention(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.KeepBodies = true, time.Nanosecond })
	stop := s.run()
	p := paid("order-1", 1)
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
	stop()
	s.run() // looks at once
	require.Eventually(t, func() bool {
		receipts, err := s.box.Receipts(t.Context(), p.ID.String())
		return err == nil && len(receipts) == 1 && receipts[0].Body == ""
	}, timeLimit, tickTime)
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
}
