package pgwire_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/pgwire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }

const insert = `INSERT INTO numbers SELECT generate_series(1, $1::int) RETURNING n`

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// wired is a database with a table, and a way to it through a proxy.
type wired struct {
	t      *testing.T
	direct *pgx.Conn
	proxy  *pgwire.Proxy
}

func newWired(t *testing.T, hook func(pgwire.Message) pgwire.Action) *wired {
	t.Helper()
	db := pgtest.New(t)
	direct, err := pgx.Connect(t.Context(), db.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, direct.Close(context.Background())) })
	_, err = direct.Exec(t.Context(), `CREATE TABLE numbers (n int)`)
	require.NoError(t, err)
	proxy, err := pgwire.New(db.DSN, hook)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	return &wired{t, direct, proxy}
}

func (w *wired) connect(mode pgx.QueryExecMode) *pgx.Conn {
	w.t.Helper()
	cfg, err := pgx.ParseConfig(w.proxy.DSN())
	require.NoError(w.t, err)
	cfg.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(w.t.Context(), cfg)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // it may be cut
	return conn
}

// stored is how many rows have been committed.
func (w *wired) stored() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.direct.QueryRow(w.t.Context(), `SELECT count(*) FROM numbers`).Scan(&n))
	return n
}

// insert inserts three rows and returns the ones that arrive.
func (w *wired) insert(conn *pgx.Conn) ([]int, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	rows, err := conn.Query(ctx, insert, 3)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var got []int
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return got, err
		}
		got = append(got, n)
	}
	return got, rows.Err()
}

// TestMessagesAreNamed: the hook sees each message with its statement, in all modes of the
// driver, also if the statement was prepared before.
func TestMessagesAreNamed(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var seen []string
			w := newWired(t, func(m pgwire.Message) pgwire.Action {
				mu.Lock()
				defer mu.Unlock()
				if m.Nth > 0 {
					seen = append(seen, fmt.Sprintf("%s %d %d/%d %d %s", m.Kind, m.Nth, m.Row, m.Rows, m.Affected(), m.Name()))
				}
				return pgwire.Pass
			})
			conn := w.connect(mode)
			for range 2 {
				tx, err := conn.Begin(t.Context())
				require.NoError(t, err)
				got, err := w.insert(tx.Conn())
				require.NoError(t, err)
				assert.Equal(t, []int{1, 2, 3}, got)
				require.NoError(t, tx.Commit(t.Context()))
			}
			assert.Equal(t, 6, w.stored())
			mu.Lock()
			defer mu.Unlock()
			text := insert
			if mode == pgx.QueryExecModeSimpleProtocol {
				text = `INSERT INTO numbers SELECT generate_series(1,  '3' ::int) RETURNING n`
			}
			for n := 1; n <= 2; n++ {
				for _, want := range []string{"DataRow %d 2/3 3 " + text, "CommandComplete %d 0/3 3 " + text, "ReadyForQuery %d 0/3 3 " + text,
					"ReadyForQuery %d 0/0 0 begin", "ReadyForQuery %d 0/0 0 commit after " + text} {
					assert.True(t, slices.Contains(seen, fmt.Sprintf(want, n)), want)
				}
			}
		})
	}
}

// TestCut: a statement that is cut is done or not done by where it is cut, and its client
// gets exactly what was forwarded before.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		at           func(pgwire.Message) bool
		action       pgwire.Action
		rows, stored int
		failed       bool
	}{
		{"BeforeExecute", func(m pgwire.Message) bool { return m.Kind == "Execute" }, pgwire.CutBefore, 0, 0, true},
		{"BeforeSync", func(m pgwire.Message) bool { return m.Kind == "Sync" && m.Nth > 0 }, pgwire.CutBefore, 0, 0, true},
		{"BeforeBindComplete", func(m pgwire.Message) bool { return m.Kind == "BindComplete" }, pgwire.CutBefore, 0, 3, true},
		{"BeforeSecondRow", func(m pgwire.Message) bool { return m.Row == 2 }, pgwire.CutBefore, 1, 3, true},
		{"AfterSecondRow", func(m pgwire.Message) bool { return m.Row == 2 }, pgwire.CutAfter, 2, 3, true},
		{"BeforeCommandComplete", func(m pgwire.Message) bool { return m.Kind == "CommandComplete" }, pgwire.CutBefore, 3, 3, true},
		{"BeforeReadyForQuery", func(m pgwire.Message) bool { return m.Kind == "ReadyForQuery" && m.Nth > 0 }, pgwire.CutBefore, 3, 3, true},
		{"AfterReadyForQuery", func(m pgwire.Message) bool { return m.Kind == "ReadyForQuery" && m.Nth > 0 }, pgwire.CutAfter, 3, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWired(t, func(m pgwire.Message) pgwire.Action {
				if m.Statement == insert && c.at(m) {
					return c.action
				}
				return pgwire.Pass
			})
			conn := w.connect(pgx.QueryExecModeCacheStatement)
			got, err := w.insert(conn)
			if c.failed {
				require.ErrorContains(t, err, "unexpected EOF")
			} else {
				require.NoError(t, err)
			}
			assert.Len(t, got, c.rows)
			assert.Equal(t, c.stored, w.stored())
			require.Error(t, conn.Ping(t.Context()), "the connection has ended")
		})
	}
}

// TestCutCommit: a transaction is committed or not by which side of its commit is cut.
func TestCutCommit(t *testing.T) {
	t.Parallel()
	for from, stored := range map[pgwire.Side]int{pgwire.Client: 0, pgwire.Server: 3} {
		t.Run(fmt.Sprint(stored), func(t *testing.T) {
			t.Parallel()
			w := newWired(t, func(m pgwire.Message) pgwire.Action {
				if m.From == from && m.Name() == "commit after "+insert {
					return pgwire.CutBefore
				}
				return pgwire.Pass
			})
			tx, err := w.connect(pgx.QueryExecModeCacheStatement).Begin(t.Context())
			require.NoError(t, err)
			_, err = w.insert(tx.Conn())
			require.NoError(t, err)
			require.ErrorContains(t, tx.Commit(t.Context()), "conn closed")
			assert.Equal(t, stored, w.stored())
		})
	}
}

// TestStall: a stalled connection tells nobody anything, and others go on.
func TestStall(t *testing.T) {
	t.Parallel()
	w := newWired(t, func(m pgwire.Message) pgwire.Action {
		if m.Conn == 1 && m.Kind == "Execute" {
			return pgwire.Stall
		}
		return pgwire.Pass
	})
	conn := w.connect(pgx.QueryExecModeCacheStatement)
	other := w.connect(pgx.QueryExecModeCacheStatement)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, insert, 3)
		ended <- err
	}()
	got, err := w.insert(other)
	require.NoError(t, err)
	assert.Len(t, got, 3)
	select {
	case err := <-ended:
		require.Fail(t, "the stalled client was told something", "%v", err)
	default:
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	assert.Equal(t, 3, w.stored())
}

// TestServerAway: a client whose server is away or says no hears of it at once.
func TestServerAway(t *testing.T) {
	t.Parallel()
	cluster := pgtest.NewCluster(t)
	proxy, err := pgwire.New(cluster.DSN("postgres"), func(pgwire.Message) pgwire.Action { return pgwire.Pass })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	conn, err := pgx.Connect(t.Context(), proxy.DSN())
	require.NoError(t, err)
	require.NoError(t, cluster.Stop("fast"))
	require.Error(t, conn.Ping(t.Context()))
	_, err = pgx.Connect(t.Context(), proxy.DSN())
	require.ErrorContains(t, err, "EOF")
	require.NoError(t, cluster.Start())
	conn, err = pgx.Connect(t.Context(), proxy.DSN())
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
