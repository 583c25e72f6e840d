package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// withDefault is a database whose sessions begin with the setting.
func withDefault(t *testing.T, setting, value string) *pgtest.Database {
	t.Helper()
	db := pgtest.New(t)
	_, err := db.DB.ExecContext(t.Context(), fmt.Sprintf(
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET %s = %%L', current_database(), '%s'); END $$`, setting, value))
	require.NoError(t, err)
	return db
}

// TestDefaultIsolation: 400 of 400 payments are created and granted, by two replicas over
// both channels and at the first try, whatever isolation the database gives by default.
func TestDefaultIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			grantAtLevel(t, withDefault(t, "default_transaction_isolation", level))
		})
	}
}

func grantAtLevel(t *testing.T, db *pgtest.Database) {
	const callers, each = 8, 50
	_, err := db.DB.ExecContext(t.Context(), effectsTable)
	require.NoError(t, err)
	mock := mockserver.RunT(t, mockserver.Config{})
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var failed atomic.Int64
	boxes := make([]*inbox.Inbox, 2)
	for i := range boxes {
		pool, err := sql.Open("pgx", db.DSN)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, pool.Close()) })
		boxes[i], err = inbox.Open(ctx, inbox.Config{DB: pool, Client: client, Logger: slog.New(slog.DiscardHandler),
			BackoffMin: time.Millisecond, BackoffMax: time.Second,
			Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
				err := grant(ctx, tx, p)
				if err != nil {
					failed.Add(1)
				}
				return err
			}})
		require.NoError(t, err)
		running.Go(func() { assert.NoError(t, boxes[i].Run(ctx)) })
	}
	hook, err := webhook.New(webhook.Config{Client: client, Ledger: boxes[1].Webhook(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	web := httptest.NewServer(hook)
	require.NoError(t, mock.SetWebhook(mock.Token(), web.URL))
	poll, err := poller.New(poller.Config{Client: client, Ledger: boxes[0].Poller(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	running.Go(func() { _ = poll.Run(ctx) })
	var creating sync.WaitGroup
	for caller := range callers {
		creating.Go(func() {
			for n := range each {
				c, err := boxes[caller%2].Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: fmt.Sprint(caller, "-", n), Amount: payments.NewAmount(1000)})
				if assert.NoError(t, err) {
					_, err = mock.Deposit(c.PayToken.String(), mockserver.Deposit{})
					assert.NoError(t, err)
				}
			}
		})
	}
	creating.Wait()
	granted := 0
	assert.Eventually(t, func() bool {
		err := db.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM effects`).Scan(&granted)
		return err == nil && granted >= callers*each
	}, patience, 10*time.Millisecond, "granted in time")
	stop()
	running.Wait()
	web.Close()
	require.NoError(t, hook.Wait(t.Context()))
	assert.Equal(t, callers*each, granted)
	assert.Zero(t, failed.Load(), "runs of the handler that failed")
	for _, box := range boxes {
		require.NoError(t, box.Close())
	}
}

// TestDeadlockIsNoTry: a handler that the database undoes runs again at once, and no try
// is counted; if that happens every time, it runs again later, uncounted too.
func TestDeadlockIsNoTry(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"40P01", "40001"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			runs, undone := 0, 3
			box, err := inbox.Open(t.Context(), inbox.Config{
				DB: pgtest.New(t).DB, Client: nobody{}, AcceptUnknown: true, MaxAttempts: 1, Logger: slog.New(slog.DiscardHandler),
				Handler: func(context.Context, *sql.Tx, payments.Payment) error {
					if runs++; runs <= undone {
						return fmt.Errorf("give the sword: %w", &pgconn.PgError{Code: state})
					}
					return nil
				},
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, box.Close()) })
			handle := func(n int) inbox.Entry {
				t.Helper()
				p := nthPayment(n)
				require.NoError(t, box.Webhook().Accept(t.Context(), p))
				claims, err := inbox.ClaimAll(box)
				require.NoError(t, err)
				require.Len(t, claims, 1)
				inbox.Handle(box, &claims[0])
				e, err := box.Get(t.Context(), p.ID.String())
				require.NoError(t, err)
				return e
			}
			e := handle(1)
			assert.Equal(t, inbox.StageDone, e.Stage)
			assert.Equal(t, 4, runs)
			runs, undone = 0, 1000
			e = handle(2)
			assert.Equal(t, inbox.StageReady, e.Stage, "although MaxAttempts is 1")
			assert.Equal(t, 11, runs)
			assert.Zero(t, e.Tries)
			assert.Positive(t, time.Until(e.RunAt), "not at once")
		})
	}
}

// TestCancelledDeadlock: a handler that gives up because of a deadlock has given up.
func TestCancelledDeadlock(t *testing.T) {
	t.Parallel()
	runs := 0
	box, err := inbox.Open(t.Context(), inbox.Config{
		DB: pgtest.New(t).DB, Client: nobody{}, AcceptUnknown: true, Logger: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, *sql.Tx, payments.Payment) error {
			runs++
			return inbox.Cancel(errors.Join(errors.New("no more"), &pgconn.PgError{Code: "40P01"}))
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(1)))
	claims, err := inbox.ClaimAll(box)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	inbox.Handle(box, &claims[0])
	e, err := box.Get(t.Context(), nthPayment(1).ID.String())
	require.NoError(t, err)
	assert.Equal(t, inbox.StageDead, e.Stage)
	assert.Equal(t, 1, runs)
}
