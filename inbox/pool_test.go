package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
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

// openOnPgxpool opens an inbox on a pool of pgx, as docs/guide/database-libraries.md shows it.
func openOnPgxpool(ctx context.Context, url string, client inbox.Client, grant inbox.Handler) (box *inbox.Inbox, stop func() error, err error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, err
	}
	cfg.MaxConns = 24 // the default is 4, or one for each processor if that is more
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	db := stdlib.OpenDBFromPool(pool) // takes its connections from pool
	box, err = inbox.Open(ctx, inbox.Config{DB: db, Client: client, Handler: grant, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return box, func() error {
		err := errors.Join(box.Close(), db.Close()) // db.Close leaves pool open
		pool.Close()
		return err
	}, nil
}

// grantTags reads and writes an array through database/sql.
func grantTags(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	var tags []string
	err := tx.QueryRowContext(ctx, `UPDATE orders SET tags = tags || $2 WHERE id = $1 RETURNING tags`,
		p.Identifier, []string{"paid"}).Scan(pgtype.NewMap().SQLScanner(&tags))
	if err != nil {
		return err
	}
	if len(tags) != 2 {
		return inbox.Cancel(errors.New("granted before"))
	}
	return nil
}

// TestPgxpool: a payment is granted on a pool of pgx, with an array in the handler's transaction.
func TestPgxpool(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.DB.ExecContext(t.Context(), `CREATE TABLE orders (id text PRIMARY KEY, tags text[] NOT NULL);
		INSERT INTO orders VALUES ('order-1', '{new}')`)
	require.NoError(t, err)
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	box, closeAll, err := openOnPgxpool(t.Context(), db.DSN, client, grantTags)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, closeAll()) })
	defer running(t, box)()

	created, err := box.Create(t.Context(), payments.CreateRequest{Title: "Tea", Identifier: "order-1", Amount: payments.NewAmount(1000)})
	require.NoError(t, err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	require.NoError(t, err)
	_, err = box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		e, err := box.Get(t.Context(), created.PayToken.String())
		return err == nil && e.Stage == inbox.StageDone
	}, patience, 5*time.Millisecond)
}

// TestPgBouncer: behind a real PgBouncer the inbox works, or Open refuses with a sentence
// that says what to do, for each pool mode and for each way in which pgx runs statements.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	const (
		prepared   = "default_query_exec_mode=exec (or simple_protocol) in pgx's connection string, or use session pooling or a direct connection"
		statements = "it allows no transactions (PgBouncer: pool_mode = statement); use transaction or session pooling, or a direct connection"
	)
	for pooling, refusals := range map[string]map[string]string{
		"session":     {"cache_statement": "", "exec": "", "simple_protocol": ""},
		"transaction": {"cache_statement": prepared, "exec": "", "simple_protocol": ""},
		"statement":   {"cache_statement": statements, "exec": statements, "simple_protocol": statements},
	} {
		t.Run(pooling, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t).Pooler(t, pooling)
			for mode, refusal := range refusals {
				t.Run(mode, func(t *testing.T) {
					throughPooler(t, dsn+"&default_query_exec_mode="+mode, "p_"+mode+"_", refusal)
				})
			}
		})
	}
}

func throughPooler(t *testing.T, dsn, prefix, refusal string) {
	const n = 40
	pool, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	var granted sync.WaitGroup
	granted.Add(n)
	cfg := inbox.Config{
		DB: pool, TablePrefix: prefix, Concurrency: 4, Client: nobody{}, AcceptUnknown: true, ReconcileEvery: -1, Logger: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, *sql.Tx, payments.Payment) error {
			granted.Done()
			return nil
		},
	}
	box, err := inbox.Open(t.Context(), cfg)
	if refusal != "" {
		require.ErrorIs(t, err, inbox.ErrPooler)
		require.ErrorContains(t, err, refusal)
		return
	}
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	var accepting sync.WaitGroup
	for i := range n {
		accepting.Go(func() {
			assert.NoError(t, box.Webhook().RecordHint(t.Context(), nthPayment(i).ID))
			assert.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(i)))
		})
	}
	accepting.Wait()
	granted.Wait()
	assert.Equal(t, []string{"on", "on", "on", "on", "0", "0"}, othersSettings(t, pool), "of another program behind the pooler")
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, box.Close())
	assert.Equal(t, []string{"on", "on", "on", "on", "0", "0"}, othersSettings(t, pool))
}

// othersSettings are those of all sessions that the pooler lends at once.
func othersSettings(t *testing.T, pool *sql.DB) (found []string) {
	t.Helper()
	var held []*sql.Tx
	for range 6 {
		tx, err := pool.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		held = append(held, tx)
		settings := make([]string, 6)
		for i, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "lock_timeout", "idle_in_transaction_session_timeout"} {
			require.NoError(t, tx.QueryRowContext(t.Context(), fmt.Sprintf("SELECT current_setting('%s')", name)).Scan(&settings[i]))
		}
		if found == nil {
			found = settings
		}
		assert.Equal(t, found, settings)
	}
	for _, tx := range held {
		require.NoError(t, tx.Rollback())
	}
	return found
}

// TestLedgerOfAnotherShape: Open refuses a ledger that says it has this version and has not
// its columns or tables; it does not begin to work and fail statement by statement.
func TestLedgerOfAnotherShape(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t).DB
	for i, change := range []string{
		`ALTER TABLE %spayments DROP COLUMN ready_at CASCADE`,
		`ALTER TABLE %spayments RENAME leased TO lease`,
		`ALTER TABLE %sorders ALTER created_at TYPE timestamptz USING now()`,
		`DROP TABLE %sreceipts`,
		`DROP TABLE %spolls`,
	} {
		prefix := fmt.Sprintf("shape%d_", i)
		cfg := inbox.Config{DB: db, TablePrefix: prefix, Client: nobody{}, Handler: grant}
		box, err := inbox.Open(t.Context(), cfg)
		require.NoError(t, err)
		require.NoError(t, box.Close())
		_, err = db.ExecContext(t.Context(), fmt.Sprintf(change, prefix))
		require.NoError(t, err)
		_, err = inbox.Open(t.Context(), cfg)
		require.ErrorIs(t, err, inbox.ErrSchema, change)
		require.ErrorContains(t, err, "MigrationSQL", change)
	}
	assert.Zero(t, db.Stats().InUse)
}
