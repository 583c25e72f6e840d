package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// stand is an inbox that can be opened again, with the mock of the service.
type stand struct {
	books
	mock   *mockserver.Server
	client *payments.Client
	cfg    inbox.Config
	box    *inbox.Inbox
	ledger *sql.DB
}

func newStand(t *testing.T, postgres bool, change func(*inbox.Config)) *stand {
	t.Helper()
	s := &stand{mock: mockserver.RunT(t)}
	var err error
	s.client, err = payments.New(payments.Config{BaseURL: s.mock.URL(), Token: s.mock.Token(), MaxRetries: -1})
	require.NoError(t, err)
	t.Cleanup(s.client.CloseIdleConnections)
	s.cfg = inbox.Config{Client: s.client, Handler: grant, AcceptUnknown: true, ReconcileEvery: -1, Logger: slog.New(slog.DiscardHandler)}
	if postgres {
		s.cfg.DB = pgtest.New(t).DB
		s.ledger = s.cfg.DB
	} else {
		s.cfg.SQLite, err = sqlite.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.cfg.SQLite.Close()) })
		s.ledger = s.cfg.SQLite.Writer
	}
	s.books = books{t, s.ledger}
	if change != nil {
		change(&s.cfg)
	}
	s.do(effectsTable)
	s.box = s.open()
	return s
}

// entry is a payment that is in the ledger.
func (s *stand) entry(key string) inbox.Entry {
	s.t.Helper()
	e, err := s.box.Get(s.t.Context(), key)
	require.NoError(s.t, err)
	return e
}

func (s *stand) received(key string) []inbox.Receipt {
	s.t.Helper()
	receipts, err := s.box.Receipts(s.t.Context(), key)
	require.NoError(s.t, err)
	return receipts
}

func (s *stand) reconcile() inbox.Report {
	s.t.Helper()
	report, err := s.box.Reconcile(s.t.Context())
	require.NoError(s.t, err)
	return report
}

// claim claims all that is due.
func (s *stand) claim() []inbox.Claim {
	s.t.Helper()
	claims, err := inbox.ClaimAll(s.box)
	require.NoError(s.t, err)
	return claims
}

func (s *stand) open() *inbox.Inbox {
	s.t.Helper()
	if s.box != nil && s.cfg.SQLite != nil {
		require.NoError(s.t, s.box.Close())
	}
	box, err := inbox.Open(s.t.Context(), s.cfg)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = box.Close() })
	return box
}

func (s *stand) strange(n int) {
	s.t.Helper()
	created, err := s.client.Create(s.t.Context(), payments.CreateRequest{Title: "Sword", Identifier: fmt.Sprint("order-", n), Amount: payments.NewAmount(1000)})
	require.NoError(s.t, err)
	_, err = s.mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
	require.NoError(s.t, err)

}

func (s *stand) pollAndDie(box *inbox.Inbox) uuid.UUID {
	s.t.Helper()
	return s.poll(box.Poller().Begin())
}

func (s *stand) poll(journal poller.Journal) uuid.UUID {
	s.t.Helper()
	ctx, err := journal.BeforePoll(s.t.Context())
	require.NoError(s.t, err)
	p, err := s.client.Next(ctx)
	require.NoError(s.t, err)
	return p.ID
}

// TestSeveralRawPolls: a poller that died may have had several payments in hand.
func TestSeveralRawPolls(t *testing.T) {
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			s := newStand(t, pg, nil)
			var ids []uuid.UUID
			journal := s.box.Poller().Begin()
			for i := range 3 {
				s.strange(i)
				ids = append(ids, s.poll(journal))
			}
			s.do(`UPDATE depositpay_polls SET beat_at = 1`)
			s.box = s.open()
			s.reconcile()
			for i, id := range ids {
				_, err := s.box.Get(t.Context(), id.String())
				require.NoError(t, err, "poll %d of 3", i+1)
			}
		})
	}
}

// TestRawPollBehindManyLines: what a poll returned is found behind whatever waits before it in the intake file.
func TestRawPollBehindManyLines(t *testing.T) {
	s := newStand(t, false, nil)
	for i := range 40 {
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(i)))
	}
	s.strange(1)
	id := s.pollAndDie(s.box)
	s.box = s.open()
	report := s.reconcile()
	t.Logf("%+v", report)
	for range 10 {
		s.reconcile()
	}
	_ = s.entry(id.String())
}

// TestDeadPollerAndClockSetBack: the line of a poller that died before the clock was set back by an hour is open for
// another two minutes, and then taken in: not an hour later.
func TestDeadPollerAndClockSetBack(t *testing.T) {
	s := newStand(t, true, nil)
	s.strange(1)
	id := s.pollAndDie(s.box)
	other := s.open()
	step := func(beats string) {
		s.do(`UPDATE depositpay_polls SET beat_at = beat_at ` + beats)
		require.NoError(t, inbox.LookAtClock(other))
		_, err := other.Reconcile(t.Context())
		require.NoError(t, err)
	}
	step(`+ 3600000000`)
	_, err := other.Get(t.Context(), id.String())
	require.ErrorIs(t, err, inbox.ErrNotFound, "it may be alive, and beat again")
	step(`- 130000000`)
	_, err = other.Get(t.Context(), id.String())
	require.NoError(t, err)
}

// TestStalledPoller: a poller that stood still and was taken for dead goes on under a new line, so that
// what it leaves when it does die is found.
func TestStalledPoller(t *testing.T) {
	s := newStand(t, true, nil)
	journal := s.box.Poller().Begin()
	_, err := journal.BeforePoll(t.Context())
	require.NoError(t, err)
	_, err = s.ledger.Exec(`UPDATE depositpay_polls SET beat_at = beat_at - 180000000`) // three minutes pass
	require.NoError(t, err)
	other := s.open()
	report, err := other.Reconcile(t.Context())
	require.NoError(t, err)
	t.Logf("losses while it lives: %+v", report.PossibleLosses)
	s.strange(1)
	id := s.poll(journal)
	s.do(`UPDATE depositpay_polls SET beat_at = 1`)
	_, err = other.Reconcile(t.Context())
	require.NoError(t, err)
	_, err = other.Get(t.Context(), id.String())
	require.NoError(t, err, "what a poll returned before the crash is gone")
}

// TestReconcileStrangers: reconciliation asks for the merchant's own payments; strangers' ids wait for
// their own rate.
func TestReconcileStrangers(t *testing.T) {
	s := newStand(t, false, func(c *inbox.Config) { c.ConfirmRate = 5 })
	for range 100 {
		require.NoError(t, s.box.Webhook().RecordHint(t.Context(), uuid.New()))
	}
	report := s.reconcile()
	require.EqualValues(t, 100, report.Hints)
	for _, r := range s.mock.Requests() {
		require.NotEqual(t, "/payments/confirm", r.Path)
	}
}

// TestOldestReady: the wait for the handler counts from the record, not from the creation.
func TestOldestReady(t *testing.T) {
	s := newStand(t, false, nil)
	p := nthPayment(1)
	require.NoError(t, s.box.Expect(t.Context(), p.ID, payments.CreateRequest{Title: "x", Identifier: p.Identifier, Amount: p.PaidAmount}))
	s.reconcile()
	s.do(`UPDATE depositpay_payments SET first_seen = first_seen - 3 * 86400000000`)
	require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
	s.reconcile()
	status := s.status()
	require.EqualValues(t, 1, status.Count[inbox.StageReady])
	require.Less(t, status.OldestReady, time.Hour)
}

// TestSecondRecordWhileReady: a second record that says something else comes before the first was
// looked at.
func TestSecondRecordWhileReady(t *testing.T) {
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			s := newStand(t, pg, nil)
			p := nthPayment(1)
			full := p.PaidAmount
			p.PaidAmount = payments.NewAmount(0)
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			p.PaidAmount = full
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.box.Run(ctx) }()
			var e inbox.Entry
			require.Eventually(t, func() bool {
				var err error
				e, err = s.box.Get(t.Context(), p.ID.String())
				return err == nil && e.Stage != inbox.StageReady
			}, 10*time.Second, 5*time.Millisecond)
			cancel()
			require.NoError(t, <-done)
			require.Equal(t, inbox.StageDone, e.Stage, "%+v", e)
		})
	}
}

// TestReceiptsInOneGroup: records of one payment that are committed together leave a receipt each.
func TestReceiptsInOneGroup(t *testing.T) {
	s := newStand(t, true, nil)
	tx, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = tx.Exec(`LOCK TABLE depositpay_payments IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	errs := make(chan error, 9)
	lane := s.sameLane(2)
	p := lane[1]
	go func() { errs <- s.box.Webhook().Accept(t.Context(), lane[0]) }()
	s.awaitLock("relation")
	for i := range 8 {
		go func() {
			if i%2 == 0 {
				errs <- s.box.Webhook().Accept(t.Context(), p)
			} else {
				errs <- s.box.Poller().Accept(t.Context(), p)
			}
		}()
	}
	s.awaitQueued(8)
	require.NoError(t, tx.Rollback())
	for range 9 {
		require.NoError(t, <-errs)
	}
	receipts := s.received(p.ID.String())
	require.Len(t, receipts, 8)
}

// sameLane returns payments that are taken in one after another.
func (s *stand) sameLane(n int) []payments.Payment {
	var lane []payments.Payment
	for i := 0; len(lane) < n; i++ {
		if p := nthPayment(i); len(lane) == 0 || inbox.SameLane(s.box, lane[0].ID.String(), p.ID.String()) {
			lane = append(lane, p)
		}
	}
	return lane
}

// awaitQueued waits until n acceptances stand behind the group under way.
func (s *stand) awaitQueued(n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return inbox.Queued(s.box) == n }, patience, time.Millisecond)
}

// awaitLock waits until a statement waits for a lock of this kind: "relation", or
// "transactionid" for a row that another transaction has.
func (s *stand) awaitLock(kind string) {
	s.t.Helper()
	s.awaitLocks(kind, 1)
}

func (s *stand) awaitLocks(kind string, least int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var n int
		require.NoError(s.t, s.ledger.QueryRow(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = $1`, kind).Scan(&n))
		return n >= least
	}, patience, time.Millisecond)
}

type typedNil struct{ what string }

func (e *typedNil) Error() string { return e.what }

// TestTypedNil: a handler that returns a typed nil, whose Error panics, harms its own payment only.
func TestTypedNil(t *testing.T) {
	s := newStand(t, false, func(c *inbox.Config) {
		c.MaxAttempts = 1
		c.Handler = func(context.Context, *sql.Tx, payments.Payment) error {
			var e *typedNil
			return e
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.box.Run(ctx) }()
	require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), nthPayment(1).ID.String())
		return err == nil && e.Stage == inbox.StageDead
	}, 10*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

// TestOrderWithinAMillisecond: payments of one identifier keep their order within one tick of SQLite's clock.
func TestOrderWithinAMillisecond(t *testing.T) {
	var got []string
	s := newStand(t, false, func(c *inbox.Config) {
		c.SerializeByIdentifier = true
		c.Handler = func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			got = append(got, p.ID.String())
			return nil
		}
	})
	var want []string
	for i := range 30 {
		p := nthPayment(i)
		p.Identifier = "player-1"
		want = append(want, p.ID.String())
		require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.box.Run(ctx) }()
	require.Eventually(t, func() bool {
		st, err := s.box.Status(t.Context())
		return err == nil && st.Count[inbox.StageDone] == 30
	}, 10*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, want, got)
}

// XAn op of a kind that this version does not know (after a downgrade) is dropped silently by the fold.
func TestBugUnknownKind(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
	box := accepting(t, inbox.Config{SQLite: db})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	require.NoError(t, box.Close())
	_, err := db.Intake.ExecContext(t.Context(), `UPDATE intake SET ops = replace(ops, '"k":"record"', '"k":"of the next version"')`)
	require.NoError(t, err)
	box = accepting(t, inbox.Config{SQLite: db})
	_, err = box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Len(t, inReview(t, box), 1)
}

// twoPollers is one service, and two programs that poll it with the same token.
type twoPollers struct {
	t      *testing.T
	mock   *mockserver.Server
	client *payments.Client
}

func newTwoPollers(t *testing.T) twoPollers {
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return twoPollers{t, mock, client}
}

func (s twoPollers) open(cfg inbox.Config) *inbox.Inbox {
	s.t.Helper()
	cfg.Client, cfg.Logger, cfg.Handler = s.client, slog.New(slog.DiscardHandler), grantEffect
	box, err := inbox.Open(s.t.Context(), cfg)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, box.Close()) })
	return box
}

// grantEffect counts, so that a second grant of one payment fails by the primary key.
func grantEffect(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO effects (payment) VALUES ($1)`, p.ID.String())
	return err
}

// poll begins to poll into box. stop ends it cleanly and returns what it counted.
func (s twoPollers) poll(box *inbox.Inbox) (stop func() poller.Stats) {
	s.t.Helper()
	p, err := poller.New(poller.Config{
		Client: s.client, Ledger: box.Poller(), Logger: slog.New(slog.DiscardHandler),
		IntervalMin: time.Millisecond, IntervalMax: 2 * time.Millisecond, BackoffMax: 10 * time.Millisecond,
	})
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() poller.Stats {
		cancel()
		require.NoError(s.t, <-ended)
		return p.Stats()
	}
}

func (s twoPollers) pay(box *inbox.Inbox, n int) (ids []uuid.UUID) {
	s.t.Helper()
	for i := range n {
		created, err := box.Create(s.t.Context(), payments.CreateRequest{Title: "Tea", Identifier: uuid.NewString(), Amount: payments.NewAmount(int64(1000 + i))})
		require.NoError(s.t, err)
		_, err = s.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
		require.NoError(s.t, err)
		ids = append(ids, created.PayToken)
	}
	return ids
}

// TestTwoPollersOneLedger: two replicas that share a ledger poll with one token, and every seventh answer is
// lost. Each payment is granted once, whichever replica received it.
func TestTwoPollersOneLedger(t *testing.T) {
	t.Parallel()
	const perReplica = 60
	db := pgtest.New(t)
	_, err := db.DB.ExecContext(t.Context(), `CREATE TABLE effects (payment text PRIMARY KEY)`)
	require.NoError(t, err)
	s := newTwoPollers(t)
	a, b := s.open(inbox.Config{DB: db.DB}), s.open(inbox.Config{DB: db.DB})
	defer running(t, a)()
	defer running(t, b)()
	require.NoError(t, s.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Every: 7}))

	s.pay(a, perReplica) // they wait before anybody polls
	stopA, stopB := s.poll(a), s.poll(b)
	s.pay(b, perReplica)
	effects := func() (n int) {
		require.NoError(t, db.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM effects`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return effects() == 2*perReplica }, patience, 5*time.Millisecond)
	for _, stats := range []poller.Stats{stopA(), stopB()} {
		require.Positive(t, stats.Received, "both took payments")
		require.Positive(t, stats.Ambiguous, "both lost answers")
	}

	status, err := a.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(2*perReplica), status.Count[inbox.StageDone])
	require.Zero(t, status.Count[inbox.StageReview]+status.Count[inbox.StageDead])
}

// TestTwoPollersTwoLedgers: two ledgers poll with one token. A poll hands a payment to the ledger that did not
// create it: there it is unknown_order, and the one that created it only learns of it by asking.
func TestTwoPollersTwoLedgers(t *testing.T) {
	t.Parallel()
	s := newTwoPollers(t)
	var boxes [2]*inbox.Inbox
	for i := range boxes {
		db, err := sqlite.Open(t.TempDir()+"/ledger.db", nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		_, err = db.Writer.ExecContext(t.Context(), `CREATE TABLE effects (payment text PRIMARY KEY)`)
		require.NoError(t, err)
		boxes[i] = s.open(inbox.Config{SQLite: db, ReconcileEvery: -1})
	}
	creator, other := boxes[0], boxes[1]
	id := s.pay(creator, 1)[0].String()
	stop := s.poll(other)
	defer running(t, other)()
	var entry inbox.Entry
	require.Eventually(t, func() bool {
		var err error
		entry, err = other.Get(t.Context(), id)
		return err == nil && entry.Stage == inbox.StageReview
	}, patience, 5*time.Millisecond)
	require.Equal(t, int64(1), stop().Received)
	require.Equal(t, string(inbox.ReasonUnknownOrder), entry.Reason)

	report, err := creator.Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, report.Recovered)
}
