package main

import (
	"context"
	"database/sql"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	lockEvery = 50 * time.Millisecond
	goleak.VerifyTestMain(pgtest.Stopping(m))
}

// world is PostgreSQL, the service, and the replicas.
type world struct {
	t    *testing.T
	db   *sql.DB
	mock *mockserver.Server
}

func newWorld(t *testing.T) *world {
	db := pgtest.New(t)
	w := &world{t, db.DB, mockserver.RunT(t)}
	t.Setenv("DATABASE_URL", db.DSN)
	t.Setenv("DEPOSITPAY_URL", w.mock.URL())
	t.Setenv("DEPOSITPAY_CHECKOUT_URL", w.mock.CheckoutURL())
	t.Setenv("DEPOSITPAY_TOKEN", w.mock.Token())
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return w
}

// replica starts a replica and returns its address, and the function that stops it.
func (w *world) replica() (address string, stop func()) {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	listen := listener.Addr().String()
	require.NoError(w.t, listener.Close())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, listen) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(w.t, <-ended, "a signal is a clean end")
	})
	w.t.Cleanup(stop)
	return "http://" + listen, stop
}

// ask returns what a replica answers, or "" while it is not up.
func (w *world) ask(method, url string) string {
	req, err := http.NewRequestWithContext(w.t.Context(), method, url+"/orders", http.NoBody)
	require.NoError(w.t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return strings.TrimSpace(string(text))
}

func (w *world) await(url, want string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.ask(http.MethodGet, url) == want }, time.Minute, 10*time.Millisecond, want)
}

// pay orders at a replica and plays the customer.
func (w *world) pay(url string) {
	w.t.Helper()
	_, err := w.mock.Deposit(path.Base(w.ask(http.MethodPost, url)), mockserver.Deposit{Payer: "Kim"})
	require.NoError(w.t, err)
}

// holders are the sessions that hold the lock of the poller.
func (w *world) holders() (pids []int) {
	w.t.Helper()
	rows, err := w.db.QueryContext(w.t.Context(), `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database
		WHERE d.datname = current_database() AND locktype = 'advisory' AND granted AND objid = $1`, uint32(pollLock&0xffffffff))
	require.NoError(w.t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var pid int
		require.NoError(w.t, rows.Scan(&pid))
		pids = append(pids, pid)
	}
	require.NoError(w.t, rows.Err())
	return pids
}

// TestReplicas: two replicas start at once on an empty database. Either takes orders and webhooks, and one
// of them polls. When it loses its session, or stops, polling goes on.
func TestReplicas(t *testing.T) {
	w := newWorld(t)
	a, stopA := w.replica()
	b, _ := w.replica()
	w.await(a, "0 of 0 orders paid")
	w.await(b, "0 of 0 orders paid")

	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), b+"/hooks/deposit"))
	w.pay(a)
	w.await(a, "1 of 1 orders paid")
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), "")) // from here on only a poll brings a payment

	w.pay(b)
	require.Eventually(t, func() bool { return len(w.holders()) == 1 }, time.Minute, 10*time.Millisecond, "one polls")
	first := w.holders()[0]
	_, err := w.db.ExecContext(t.Context(), `SELECT pg_terminate_backend($1)`, first)
	require.NoError(t, err)
	require.Eventually(t, func() bool { now := w.holders(); return len(now) == 1 && now[0] != first }, time.Minute, 10*time.Millisecond)
	w.await(b, "2 of 2 orders paid")

	stopA()
	w.pay(b)
	w.await(b, "3 of 3 orders paid")
}

// TestManyReplicasMakeTheTablesAtOnce: nobody fails when many run the schema step at the same moment.
func TestManyReplicasMakeTheTablesAtOnce(t *testing.T) {
	w := newWorld(t)
	errs := make(chan error)
	for range 16 {
		go func() { errs <- migrate(t.Context(), w.db) }()
	}
	for range 16 {
		require.NoError(t, <-errs)
	}
}
