package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

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
