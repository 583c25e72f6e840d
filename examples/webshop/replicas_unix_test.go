//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestReplicas: three processes that start at once sell from one PostgreSQL, and one is killed in the
// middle. Every order is paid once, the stock is exact, and no log has a secret.
func TestReplicas(t *testing.T) {
	t.Parallel()
	orders := 500
	if testing.Short() || racing.On {
		orders = 60
	}
	db := pgtest.New(t)
	mock := mockserver.RunT(t)
	replicas := startReplicas(t, db.DSN, mock, 3)
	front := roundRobin(t, replicas)
	require.NoError(t, mock.SetWebhook(mock.Token(), front+hookPath+testSecret))
	_, err := db.DB.ExecContext(t.Context(), `UPDATE stock SET count = 5000`)
	require.NoError(t, err)

	w := &world{t: t, mock: mock, url: front}
	var begun atomic.Int64
	var buyers sync.WaitGroup
	for range 8 {
		buyers.Go(func() {
			for n := begun.Add(1); n <= int64(orders); n = begun.Add(1) {
				if n == int64(orders/2) {
					replicas[0].kill()
				}
				w.buy()
			}
		})
	}
	buyers.Wait()
	require.False(t, t.Failed())

	paidOrders := `SELECT count(*) FROM orders WHERE status = 'paid'`
	require.Eventually(t, func() bool { return count(t, db, paidOrders) == orders }, 3*patience, tick)
	require.Equal(t, orders, count(t, db, `SELECT count(*) FROM orders`))
	require.Equal(t, orders, count(t, db, `SELECT count(*) FROM deposits`))
	distinct := `SELECT count(DISTINCT order_id) FROM deposits WHERE outcome = 'paid' AND owed = 0`
	require.Equal(t, orders, count(t, db, distinct))
	require.Equal(t, 5000-2*orders, count(t, db, `SELECT count FROM stock WHERE product = 'tea'`))
	require.Equal(t, 5000-orders, count(t, db, `SELECT count FROM stock WHERE product = 'spoon'`))
	require.Zero(t, count(t, db, `SELECT count(*) FROM depositpay_payments WHERE stage IN (1, 2, 4, 5)`))
	for _, r := range replicas[1:] {
		r.stop()
		for _, secret := range []string{mock.Token(), testPassword, testSecret} {
			require.NotContains(t, r.out.String(), secret)
		}
	}
}

// TestHungReplica: another replica polls when the one that polled hangs.
func TestHungReplica(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	mock := mockserver.RunT(t)
	query := fmt.Sprintf(`SELECT coalesce(max(pid), 0) FROM pg_locks JOIN pg_database d ON d.oid = database
		WHERE d.datname = current_database() AND locktype = 'advisory' AND granted AND objid = %d`, uint32(pollLock&0xffffffff))
	holder := func() int { return count(t, db, query) }
	hung := startReplicas(t, db.DSN, mock, 1)[0]
	require.Eventually(t, func() bool { return holder() != 0 }, patience, tick)
	first := holder()
	startReplicas(t, db.DSN, mock, 1)
	require.NoError(t, hung.cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { now := holder(); return now != 0 && now != first }, patience, tick)
	before := len(mock.Requests())
	require.Eventually(t, func() bool { return len(mock.Requests()) > before }, patience, tick, "it polls")
}

// buy orders and pays once. It sends its forms as often as it takes.
func (w *world) buy() {
	v := w.customer()
	defer v.client.CloseIdleConnections()
	id := uuid.NewString()
	path, form := "/orders", fields("order", id, "count-tea", "2", "count-spoon", "1")
	for w.t.Context().Err() == nil {
		_, _, _ = v.do(path, form) // the replica may be dead
		_, page, _ := v.do("/orders/"+id, nil)
		if m := payButton.FindStringSubmatch(page); m != nil {
			if _, err := w.mock.Deposit(m[1], mockserver.Deposit{Payer: "Kim"}); err != nil {
				w.t.Error(err)
			}
			return
		}
		if m := nextLink.FindStringSubmatch(page); m != nil { // killed while it created the payment
			path, form = "/orders/"+id+"/pay", fields("link", m[1])
		}
		<-time.After(tick)
	}
}

func count(t *testing.T, db *pgtest.Database, query string) (n int) {
	t.Helper()
	require.NoError(t, db.DB.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// replica is a shop in a process of its own.
type replica struct {
	t    *testing.T
	url  *url.URL
	cmd  *exec.Cmd
	out  bytes.Buffer
	dead atomic.Bool
}

func startReplicas(t *testing.T, dsn string, mock *mockserver.Server, n int) (all []*replica) {
	t.Helper()
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0") // a free address
		require.NoError(t, err)
		require.NoError(t, ln.Close())
		r := &replica{t: t, url: &url.URL{Scheme: "http", Host: ln.Addr().String()}}
		r.cmd = exec.Command(os.Args[0], "--addr", r.url.Host, "--postgres", dsn)
		r.cmd.Env = append(os.Environ(), envChild+"=1", "DEPOSITPAY_URL="+mock.URL(), "DEPOSITPAY_TOKEN="+mock.Token(),
			"DEPOSITPAY_CHECKOUT_URL="+mock.CheckoutURL(), "SHOP_OFFICE_PASSWORD="+testPassword, "SHOP_HOOK_SECRET="+testSecret)
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
		require.NoError(t, r.cmd.Start())
		all = append(all, r)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		for _, r := range all {
			r.kill()
			if t.Failed() {
				t.Logf("%s: %s", r.url, &r.out)
			}
		}
	})
	for _, r := range all {
		require.Eventually(t, func() bool {
			resp, err := http.Get(r.url.String())
			if err == nil {
				_ = resp.Body.Close()
			}
			return err == nil && resp.StatusCode == http.StatusOK
		}, patience, tick, "the replica does not start")
	}
	return all
}

// kill ends the process at once.
func (r *replica) kill() {
	if r.dead.CompareAndSwap(false, true) {
		_ = r.cmd.Process.Signal(syscall.SIGKILL)
		_ = r.cmd.Wait()
	}
}

// stop requires that the process ends cleanly.
func (r *replica) stop() {
	require.True(r.t, r.dead.CompareAndSwap(false, true))
	require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(r.t, r.cmd.Wait(), "%s", &r.out)
}

// roundRobin spreads requests over the replicas in turn, including a dead one, as a load balancer does
// that has not noticed yet.
func roundRobin(t *testing.T, replicas []*replica) string {
	t.Helper()
	var turn atomic.Int64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(replicas[int(turn.Add(1))%len(replicas)].url)
			p.Out.Host = p.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}
