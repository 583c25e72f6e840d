package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// openPgxpool is the usual way to give a program's pgxpool to what wants a *sql.DB.
func openPgxpool(t *testing.T, dsn string, size int32) (*pgxpool.Pool, *sql.DB) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = size
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return pool, db
}

// TestSmallPgxpool: Open refuses a pgxpool that is too small for it, which no *sql.DB tells,
// with the number that is needed and the name of the setting, and leaves nothing taken.
func TestSmallPgxpool(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t).DSN
	for size, concurrency := range map[int32]int{4: 8, 8: 4} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			pool, db := openPgxpool(t, dsn, size)
			takeAll(t, pool, size)                                          // so that they are there, and quick to get
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // it used to wait for ever
			defer cancel()
			box, err := inbox.Open(ctx, inbox.WithReserveTimeout(inbox.Config{
				DB: db, TablePrefix: fmt.Sprintf("p%d_", size), Concurrency: concurrency, Client: nobody{}, Handler: grant,
			}, time.Second))
			if err == nil {
				defer func() { assert.NoError(t, box.Close()) }()
			}
			require.ErrorContains(t, err, fmt.Sprintf("Config.DB gave %d connections and %d are needed", size, concurrency+5))
			require.ErrorContains(t, err, "pgxpool: MaxConns")
			require.ErrorContains(t, err, "Config.Concurrency")
			assert.Zero(t, pool.Stat().AcquiredConns())
		})
	}
}

// takeAll takes n connections at once and gives them back.
func takeAll(t *testing.T, pool *pgxpool.Pool, n int32) {
	t.Helper()
	for range n {
		c, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		defer c.Release()
	}
}

// TestPgxpoolIsNotStarved: with a pgxpool of the size that is asked for, webhooks with made-up
// ids take no connection from the merchant, and all payments are granted meanwhile.
func TestPgxpoolIsNotStarved(t *testing.T) {
	t.Parallel()
	const n = 100
	pool, db := openPgxpool(t, pgtest.New(t).DSN, 13)
	var granted sync.WaitGroup
	granted.Add(n)
	box, stop := handingOver(t, inbox.Config{DB: db, Handler: func(context.Context, *sql.Tx, payments.Payment) error {
		granted.Done()
		return nil
	}})
	for i := range n {
		if i%10 == 0 {
			_, err := box.Webhook().State(t.Context(), uuid.New())
			require.NoError(t, err)
		}
		require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(i)))
	}
	granted.Wait()
	stop()
	takeAll(t, pool, 9)
	require.NoError(t, box.Close())
	assert.Eventually(t, func() bool { return pool.Stat().AcquiredConns() == 0 }, patience, time.Millisecond, "given back")
}

// handingOver is an inbox that runs until stop is called.
func handingOver(t *testing.T, cfg inbox.Config) (box *inbox.Inbox, stop func()) {
	t.Helper()
	cfg.Client, cfg.AcceptUnknown, cfg.ReconcileEvery, cfg.Logger = nobody{}, true, -1, slog.New(slog.DiscardHandler)
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	return box, sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestSeveralInboxesOnOnePool: eight inboxes, each with eight handlers, work on the pool that
// is large enough for one: they share the connections that the inbox keeps. The last one to
// be closed gives these back.
func TestSeveralInboxesOnOnePool(t *testing.T) {
	t.Parallel()
	const inboxes, n = 8, 20
	db := pgtest.New(t).DB
	db.SetMaxOpenConns(13)
	boxes := make([]*inbox.Inbox, inboxes)
	var stops []func()
	var granted sync.WaitGroup
	granted.Add(inboxes * n)
	for i := range boxes {
		box, stop := handingOver(t, inbox.Config{DB: db, TablePrefix: fmt.Sprintf("tenant%d_", i), Handler: func(context.Context, *sql.Tx, payments.Payment) error {
			granted.Done()
			return nil
		}})
		boxes[i], stops = box, append(stops, stop)
	}
	var accepting sync.WaitGroup
	for _, box := range boxes {
		for i := range n {
			accepting.Go(func() { assert.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(i))) })
		}
	}
	accepting.Wait()
	granted.Wait()
	for _, stop := range stops {
		stop()
	}
	for _, box := range boxes {
		assert.LessOrEqual(t, db.Stats().InUse, 4) // the end of Run may have cut one off
		require.NoError(t, box.Close())
	}
	assert.Zero(t, db.Stats().InUse)
}

// TestBusyPool: Open does not wait for ever for a pool whose connections somebody holds.
func TestBusyPool(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t).DB
	db.SetMaxOpenConns(6)
	var held []*sql.Conn
	for range 6 {
		c, err := db.Conn(t.Context())
		require.NoError(t, err)
		held = append(held, c)
	}
	cfg := inbox.WithReserveTimeout(inbox.Config{DB: db, Concurrency: 1, Client: nobody{}, Handler: grant}, 100*time.Millisecond)
	_, err := inbox.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "Config.DB gave 0 connections and 6 are needed")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = inbox.Open(ended, cfg)
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "raise")
	for _, c := range held {
		require.NoError(t, c.Close())
	}
	box, err := inbox.Open(t.Context(), inbox.WithReserveTimeout(cfg, patience)) // a busy machine connects slowly
	require.NoError(t, err)
	require.NoError(t, box.Close())
}
