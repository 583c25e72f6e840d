package riverbench_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// silent is a service that is not asked: all payments are confirmed already.
type silent struct{}

var errSilent = errors.New("nobody is asked in this measurement")

func (silent) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, errSilent
}

func (silent) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, errSilent
}

func (silent) Decode([]byte) (payments.Payment, error) { return payments.Payment{}, errSilent }

// spare is how many connections each side has next to those of its workers.
const spare = 5

// inboxSide hands n payments over; the handler writes a row if insert is set.
func inboxSide(t *testing.T, name string, n, workers int, insert bool) paired.Side {
	t.Helper()
	db := pgtest.New(t).DB
	db.SetMaxOpenConns(workers + spare)
	db.SetMaxIdleConns(workers + spare)
	_, err := db.ExecContext(t.Context(), `CREATE TABLE grants (payment_id text PRIMARY KEY)`)
	require.NoError(t, err)
	var current atomic.Pointer[watch]
	box, err := inbox.Open(t.Context(), inbox.Config{
		DB: db, Client: silent{}, AcceptUnknown: true, Concurrency: workers, Logger: slog.New(slog.DiscardHandler),
		Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) (err error) {
			w := current.Load()
			w.started()
			defer w.ended()
			if insert {
				_, err = tx.ExecContext(ctx, `INSERT INTO grants VALUES ($1)`, p.ID.String())
			}
			return err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	accept := paired.Calls(n, 64, func() error { return box.Webhook().Accept(context.Background(), record()) })
	return paired.Side{
		Name:   name,
		Before: func(t *testing.T) { accept(t) },
		Round: func(t *testing.T) paired.Sample {
			w := newWatch(n)
			current.Store(w)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- box.Run(ctx) }()
			got := w.sample(t, n, func() (open int) {
				require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM depositpay_payments WHERE stage = 2`).Scan(&open))
				return open
			})
			cancel()
			require.NoError(t, <-done)
			return got
		},
	}
}
