package riverbench_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// args is a job: one payment.
type args struct {
	Payment payments.Payment `json:"payment"`
}

// Kind is the name of the job.
func (args) Kind() string { return "payment" }

// worker completes the job in the transaction that writes the row.
type worker struct {
	river.WorkerDefaults[args]
	pool    *pgxpool.Pool
	current *atomic.Pointer[watch]
	insert  bool
}

func (w *worker) Work(ctx context.Context, job *river.Job[args]) (err error) {
	clock := w.current.Load()
	clock.started()
	defer clock.ended()
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if done := tx.Rollback(ctx); !errors.Is(done, pgx.ErrTxClosed) {
			err = errors.Join(err, done)
		}
	}()
	if w.insert {
		if _, err := tx.Exec(ctx, `INSERT INTO grants VALUES ($1)`, job.Args.Payment.ID.String()); err != nil {
			return err
		}
	}
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// riverSide works n jobs off; the worker writes a row if insert is set.
func riverSide(t *testing.T, name string, n, workers int, insert bool) paired.Side {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.New(t).DSN)
	require.NoError(t, err)
	cfg.MaxConns = int32(workers + spare) //nolint:gosec // a few
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `CREATE TABLE grants (payment_id text PRIMARY KEY)`)
	require.NoError(t, err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	var current atomic.Pointer[watch]
	client := func(t *testing.T) *river.Client[pgx.Tx] {
		known := river.NewWorkers()
		river.AddWorker(known, &worker{pool: pool, current: &current, insert: insert})
		c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
			Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
			FetchCooldown: fetchCooldown, FetchPollInterval: fetchPollInterval,
			Workers: known, Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		return c
	}
	return paired.Side{
		Name: name,
		Before: func(t *testing.T) {
			jobs := make([]river.InsertManyParams, n)
			for i := range jobs {
				jobs[i].Args = args{record()}
			}
			_, err := client(t).InsertManyFast(t.Context(), jobs)
			require.NoError(t, err)
		},
		Round: func(t *testing.T) paired.Sample {
			w := newWatch(n)
			current.Store(w)
			c := client(t)
			require.NoError(t, c.Start(t.Context()))
			got := w.sample(t, n, func() (open int) {
				require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE state <> 'completed'`).Scan(&open))
				return open
			})
			require.NoError(t, c.Stop(context.WithoutCancel(t.Context())))
			return got
		},
	}
}

// The least that River allows between two fetches, and how often it looks without being
// told: what its own bench command sets.
const (
	fetchCooldown     = river.FetchCooldownMin
	fetchPollInterval = 20 * time.Millisecond
)
