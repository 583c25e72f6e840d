//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
)

const secretOfReplicas = "a-secret-of-the-replicas"

// TestReplicas sells through three processes on one PostgreSQL, all started at once, and
// kills one in the middle. Every order is paid once, and the stock is exact.
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
	require.NoError(t, mock.SetWebhook(mock.Token(), front+hookPath+secretOfReplicas))
	_, err := db.DB.ExecContext(t.Context(), `UPDATE stock SET count = 5000`)
	require.NoError(t, err)

	w := &world{t: t, mock: mock, url: front}
	var begun atomic.Int64
	var all sync.WaitGroup
	work := make(chan string, orders)
	for range orders {
		work <- uuid.NewString()
	}
	close(work)
	for range 8 {
		all.Go(func() {
			for id := range work {
				if begun.Add(1) == int64(orders/2) {
					replicas[0].kill()
				}
				buy(w, id)
			}
		})
	}
	all.Wait()
	require.False(t, t.Failed())

	t.Cleanup(func() { explain(t, db.DSN, mock, replicas) })
	require.Eventually(t, func() bool { return count(t, db, `SELECT count(*) FROM orders WHERE status = 'paid'`) == orders },
		2*reconcileEvery+patience, tick, "every order is paid")
	require.Equal(t, orders, count(t, db, `SELECT count(*) FROM deposits`))
	require.Equal(t, orders, count(t, db, `SELECT count(DISTINCT order_id) FROM deposits WHERE outcome = 'paid' AND give_back = 0`))
	require.Equal(t, 5000-2*orders, count(t, db, `SELECT count FROM stock WHERE product = 'tea'`))
	require.Equal(t, 5000-orders, count(t, db, `SELECT count FROM stock WHERE product = 'spoon'`))
	require.Equal(t, orders, count(t, db, `SELECT count(*) FROM orders`))
	require.Zero(t, count(t, db, `SELECT count(*) FROM depositpay_payments WHERE stage IN (1, 2, 4, 5)`))
	for _, r := range replicas[1:] {
		r.stop()
		require.NotContains(t, r.out.String(), testContact, "nobody else is told")
	}
}

// TestHungReplica: a replica that stands still loses the lock, and another one polls.
func TestHungReplica(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	mock := mockserver.RunT(t)
	holder := func() int {
		return count(t, db, fmt.Sprintf(`SELECT coalesce(max(pid), 0) FROM pg_locks JOIN pg_database d ON d.oid = database
			WHERE d.datname = current_database() AND locktype = 'advisory' AND granted AND objid = %d`, uint32(pollLock&0xffffffff)))
	}
	polls := func() (n int) {
		for _, r := range mock.Requests() {
			if r.Path == "/callback/rest" {
				n++
			}
		}
		return n
	}
	hung := startReplicas(t, db.DSN, mock, 1)[0]
	require.Eventually(t, func() bool { return holder() != 0 }, patience, tick)
	first := holder()
	startReplicas(t, db.DSN, mock, 1)
	require.NoError(t, hung.cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { now := holder(); return now != 0 && now != first }, patience, tick)
	before := polls()
	require.Eventually(t, func() bool { return polls() > before }, patience, tick)
}

// explain tells what is unfinished, if the test has failed.
func explain(t *testing.T, dsn string, mock *mockserver.Server, replicas []*replica) {
	if !t.Failed() {
		return
	}
	db, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	var open, waiting, leased, review int
	require.NoError(t, db.QueryRow(`SELECT count(*) FILTER (WHERE stage = 0), count(*) FILTER (WHERE stage = 2),
		count(*) FILTER (WHERE stage = 2 AND attempt > 0), count(*) FILTER (WHERE stage > 3) FROM depositpay_payments`).Scan(&open, &waiting, &leased, &review))
	t.Logf("payments: %d expected, %d ready (%d begun), %d in review or dead", open, waiting, leased, review)
	byStatus := map[mockserver.Status]int{}
	for _, p := range mock.Payments() {
		byStatus[p.Status]++
	}
	t.Logf("at the service: %v", byStatus)
	for _, r := range replicas {
		r.kill()
		t.Logf("%s: %s", r.url, &r.out)
	}
}

// buy orders, as often as it takes, and pays once.
func buy(w *world, id string) {
	v := w.visitor()
	defer v.client.CloseIdleConnections()
	form := fields("order", id, "count-tea", "2", "count-spoon", "1", "contact", testContact)
	var payToken string
	for payToken == "" && w.t.Context().Err() == nil {
		resp, err := v.client.PostForm(v.url+"/orders", form)
		if err != nil {
			continue // the replica has died: the same form again is the same order
		}
		_ = resp.Body.Close()
		payToken = linked(v, id)
	}
	if _, err := w.mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim"}); err != nil {
		w.t.Error(err)
	}
}

// linked is the payment that the button of an order's page leads to; empty if there is none, or
// if the replica has died.
func linked(v *visitor, id string) string {
	resp, err := v.client.Get(v.url + "/orders/" + id)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if m := payButton.FindSubmatch(body); err == nil && m != nil {
		return string(m[1])
	}
	return ""
}

func count(t *testing.T, db *pgtest.Database, query string) (n int) {
	t.Helper()
	require.NoError(t, db.DB.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}
