package inboxtest

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// shop is a merchant with an inbox, and the mock of the service.
type shop struct {
	t      *testing.T
	db     Database
	mock   *mockserver.Server
	client *payments.Client
	cfg    inbox.Config
	box    *inbox.Inbox

	mu      sync.Mutex
	handler inbox.Handler
}

// newShop opens a shop on a fresh database; change may alter its configuration.
func newShop(t *testing.T, open func(t *testing.T) Database, change func(*inbox.Config)) *shop {
	t.Helper()
	s := &shop{t: t, db: open(t), mock: mockserver.RunT(t), handler: grant}
	var err error
	s.client, err = payments.New(payments.Config{BaseURL: s.mock.URL(), Token: s.mock.Token(), MaxRetries: -1})
	require.NoError(t, err)
	t.Cleanup(s.client.CloseIdleConnections)
	s.exec(`CREATE TABLE effects (payment_id text NOT NULL, identifier text NOT NULL)`)
	s.cfg = inbox.Config{
		DB: s.db.DB, SQLite: s.db.SQLite, Client: s.client, Handler: s.handle,
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&s.cfg)
	}
	s.reopen()
	t.Cleanup(func() { require.NoError(t, s.box.Close()) })
	return s
}

// reopen opens the inbox on the same database, as a process that starts again does.
func (s *shop) reopen() {
	s.t.Helper()
	if s.box != nil {
		require.NoError(s.t, s.box.Close())
	}
	var err error
	s.box, err = inbox.Open(s.t.Context(), s.cfg)
	require.NoError(s.t, err)
}

func (s *shop) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	s.mu.Lock()
	h := s.handler
	s.mu.Unlock()
	return h(ctx, tx, p)
}

func (s *shop) setHandler(h inbox.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

// grant writes one effect through the transaction that the handler is given.
func grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO effects (payment_id, identifier) VALUES ('%s', 'x')`, p.ID))
	return err
}

// run runs the inbox until the test, or the returned function, ends it.
func (s *shop) run() (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	box := s.box
	go func() { done <- box.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(s.t, <-done)
		})
	}
	s.t.Cleanup(stop)
	return stop
}

// exec runs a statement on the ledger.
func (s *shop) exec(format string, args ...any) {
	s.t.Helper()
	_, err := s.db.Ledger.ExecContext(s.t.Context(), fmt.Sprintf(format, args...))
	require.NoError(s.t, err)
}

// entry is a payment that is in the ledger.
func (s *shop) entry(key string) inbox.Entry {
	s.t.Helper()
	e, err := s.box.Get(s.t.Context(), key)
	require.NoError(s.t, err)
	return e
}

func (s *shop) reconcile() inbox.Report {
	s.t.Helper()
	report, err := s.box.Reconcile(s.t.Context())
	require.NoError(s.t, err)
	return report
}

// order creates a payment through the inbox.
func (s *shop) order(identifier string, amount int64) uuid.UUID {
	s.t.Helper()
	created, err := s.box.Create(s.t.Context(), request(identifier, amount))
	require.NoError(s.t, err)
	return created.PayToken
}

func request(identifier string, amount int64) payments.CreateRequest {
	return payments.CreateRequest{
		Title: "Sword", Identifier: identifier, Amount: payments.NewAmount(amount),
		Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(amount), Count: 1}},
	}
}

func (s *shop) deposit(id uuid.UUID, amount int64) {
	s.t.Helper()
	_, err := s.mock.Deposit(id.String(), mockserver.Deposit{Amount: amount})
	require.NoError(s.t, err)
}

// paid is a record as the service would return it.
func paid(identifier string, amount int64) payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: identifier, Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(amount), VerifiedAt: time.Now().UTC().Truncate(time.Second),
	}
}

func (s *shop) accept(p payments.Payment) {
	s.t.Helper()
	require.NoError(s.t, s.box.Webhook().Accept(s.t.Context(), p))
}

// await waits until the payment has come to a stage.
func (s *shop) await(key string, want inbox.Stage) inbox.Entry {
	s.t.Helper()
	var e inbox.Entry
	require.Eventually(s.t, func() bool {
		var err error
		e, err = s.box.Get(s.t.Context(), key)
		return err == nil && e.Stage == want
	}, timeLimit, tickTime, "%s must become %s, is %+v", key, want, &e)
	return e
}

// effects counts what handlers committed for a payment; "" counts all.
func (s *shop) effects(key string) int {
	s.t.Helper()
	query := `SELECT count(*) FROM effects`
	if key != "" {
		query += fmt.Sprintf(` WHERE payment_id = '%s'`, key)
	}
	var n int
	require.NoError(s.t, s.db.Ledger.QueryRowContext(s.t.Context(), query).Scan(&n))
	return n
}

func (s *shop) requireGrantedOnce(key string) {
	s.t.Helper()
	s.await(key, inbox.StageDone)
	require.Equal(s.t, 1, s.effects(key), "%s must be granted exactly once", key)
}

var decision = inbox.Decision{Actor: "kim", Reason: "looked at it"}
