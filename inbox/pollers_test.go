package inbox_test

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

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
