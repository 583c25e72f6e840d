package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// merchant is an inbox with both of its channels, and the mock of the service.
type merchant struct {
	t      *testing.T
	mock   *mockserver.Server
	client *payments.Client
	box    *inbox.Inbox
	hook   *webhook.Handler
	quiet  *slog.Logger
}

func newMerchant(t *testing.T, cfg inbox.Config, hook webhook.Config, mock mockserver.Config) *merchant {
	t.Helper()
	m := &merchant{t: t, mock: mockserver.RunT(t, mock), quiet: slog.New(slog.DiscardHandler)}
	var err error
	m.client, err = payments.New(payments.Config{BaseURL: m.mock.URL(), Token: m.mock.Token(), MaxRetries: -1})
	require.NoError(t, err)
	t.Cleanup(m.client.CloseIdleConnections)
	ledger := cfg.DB
	if cfg.SQLite != nil {
		ledger = cfg.SQLite.Writer
	}
	_, err = ledger.ExecContext(t.Context(), effectsTable)
	require.NoError(t, err)
	cfg.Client, cfg.Handler, cfg.Logger = m.client, grant, m.quiet
	cfg.BackoffMin, cfg.BackoffMax = time.Millisecond, 50*time.Millisecond
	m.box, err = inbox.Open(t.Context(), inbox.WithLease(cfg, 2*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.box.Close()) })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.box.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	hook.Client, hook.Ledger, hook.Logger = m.client, m.box.Webhook(), m.quiet
	m.hook, err = webhook.New(hook)
	require.NoError(t, err)
	return m
}

// create creates a payment, which needs the database.
func (m *merchant) create(n int) uuid.UUID {
	m.t.Helper()
	created, err := m.box.Create(m.t.Context(), payments.CreateRequest{
		Title: "Sword", Identifier: fmt.Sprint("order-", n), Amount: payments.NewAmount(1000),
	})
	require.NoError(m.t, err)
	return created.PayToken
}

func (m *merchant) deposit(id uuid.UUID) {
	_, err := m.mock.Deposit(id.String(), mockserver.Deposit{})
	require.NoError(m.t, err)
}

// post delivers a webhook and returns the status of the answer.
func (m *merchant) post(id uuid.UUID) int {
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(`{"payment_id":"`+id.String()+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	m.hook.ServeHTTP(w, r)
	return w.Code
}

func (m *merchant) statusOf(id uuid.UUID) mockserver.Status {
	for _, p := range m.mock.Payments() {
		if p.ID == id.String() {
			return p.Status
		}
	}
	return ""
}

// TestOutage: PostgreSQL crashes under load and comes back. Meanwhile nothing is
// acknowledged and nothing is polled; afterwards all goes on by itself.
func TestOutage(t *testing.T) {
	t.Parallel()
	n, outages := 400, 3
	if testing.Short() {
		n, outages = 120, 1
	}
	cluster := pgtest.NewCluster(t)
	db, err := sql.Open("pgx", cluster.DSN("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	m := newMerchant(t, inbox.Config{DB: db}, webhook.Config{MaxConcurrent: 1 << 20, ConfirmRate: -1}, mockserver.Config{MaxRequests: 100_000})

	down := make(chan poller.Event, 1<<16)
	var sinkDown atomic.Bool
	poll, err := poller.New(poller.Config{
		Client: m.client, Ledger: m.box.Poller(), Logger: m.quiet,
		IntervalMin: 5 * time.Millisecond, IntervalMax: 10 * time.Millisecond, BackoffMax: 100 * time.Millisecond,
		OnEvent: func(e poller.Event) {
			if e.Kind == poller.KindSinkDown && sinkDown.CompareAndSwap(false, true) {
				down <- e
			}
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	polled := make(chan error, 1)
	go func() { polled <- poll.Run(ctx) }()

	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = m.create(i)
	}
	ours := nthPayment(n + outages)
	created, err := m.box.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: ours.Identifier, Amount: ours.PaidAmount})
	require.NoError(t, err)
	ours.ID = created.PayToken
	byPollOnly := make([]uuid.UUID, outages)
	for i := range byPollOnly {
		byPollOnly[i] = m.create(n + i)
	}
	// The load: deposits, and webhooks that are repeated as the service repeats them,
	// until they are answered 200.
	var load sync.WaitGroup
	var refused atomic.Int64
	acknowledged := make([]atomic.Bool, n)
	pace := time.NewTicker(3 * time.Second / time.Duration(n))
	defer pace.Stop()
	next := make(chan int)
	for range 16 {
		load.Go(func() {
			for i := range next {
				m.deposit(ids[i])
				for i%3 != 0 { // every third comes by poll alone
					if code := m.post(ids[i]); code == http.StatusOK {
						acknowledged[i].Store(true)
						break
					}
					refused.Add(1)
					<-time.After(time.Duration(50+rand.IntN(100)) * time.Millisecond)
				}
			}
		})
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i := range n {
			<-pace.C
			next <- i
		}
		close(next)
	}()

	for i := range outages {
		<-time.After(300 * time.Millisecond)
		sinkDown.Store(false)
		require.NoError(t, cluster.Stop("immediate"))
		select {
		case e := <-down:
			require.Error(t, e.Err)
		case <-time.After(patience):
			require.Fail(t, "the poller was not told that the store is down")
		}
		polls := poll.Stats().Polls
		m.deposit(byPollOnly[i]) // a destructive read would complete it
		require.Error(t, m.box.Webhook().Accept(t.Context(), ours))
		require.Equal(t, http.StatusServiceUnavailable, m.post(uuid.New()), "it cannot know how that one stands")
		require.Equal(t, http.StatusOK, m.post(ids[0]), "this process has seen it stored")
		<-time.After(400 * time.Millisecond)
		require.Equal(t, polls, poll.Stats().Polls, "nothing is polled while the store is down")
		require.Equal(t, mockserver.StatusProgress, m.statusOf(byPollOnly[i]))
		require.NoError(t, cluster.Start())
	}
	<-fed
	load.Wait()
	books := books{t, db}
	books.awaitDone(n + outages + 1) // with the one that was kept in memory
	cancel()
	require.NoError(t, <-polled)
	count := 0
	for i := range acknowledged {
		if acknowledged[i].Load() {
			count++
		}
	}
	t.Logf("%d outages, %d payments: %d webhooks acknowledged, %d refused, %+v", outages, n, count, refused.Load(), poll.Stats())
	books.requireExact(n + outages + 1)
	for i, id := range ids {
		require.Equal(t, 1, books.effects(id), i)
		require.Equal(t, mockserver.StatusComplete, m.statusOf(id))
	}
}

// onCluster is an inbox on a server that the test may stop.
func onCluster(t *testing.T) (*pgtest.Cluster, *inbox.Inbox) {
	t.Helper()
	cluster := pgtest.NewCluster(t)
	db, err := sql.Open("pgx", cluster.DSN("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return cluster, accepting(t, inbox.Config{DB: db})
}

// TestCloseAfterCrash: connections that the server has dropped are closed, and no error.
func TestCloseAfterCrash(t *testing.T) {
	t.Parallel()
	cluster, box := onCluster(t)
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(1)))
	require.NoError(t, cluster.Stop("immediate"))
	require.NoError(t, box.Close())
}

// TestPollLostInOutage: a possible loss that happens while the server is away is written
// down when it is back.
func TestPollLostInOutage(t *testing.T) {
	t.Parallel()
	cluster, box := onCluster(t)
	require.NoError(t, cluster.Stop("immediate"))
	written := make(chan error, 1)
	go func() { written <- box.Poller().Begin().PollLost(t.Context(), errors.New("the answer was cut")) }()
	select {
	case err := <-written:
		require.Fail(t, "it was given up while the server was away", "%v", err)
	case <-time.After(300 * time.Millisecond): // tries in vain
	}
	require.NoError(t, cluster.Start())
	require.NoError(t, <-written)
	report, err := box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Len(t, report.PossibleLosses, 1)
	assert.Equal(t, "ambiguous: the answer was cut", report.PossibleLosses[0].Reason)
}

// TestPaidInAnOutage: PostgreSQL is away for a moment while customers pay. With default settings,
// nothing done by hand and one webhook each, all of them are granted: those whose confirm had come before the
// failure was noticed, and those that were not confirmed.
func TestPaidInAnOutage(t *testing.T) {
	t.Parallel()
	const n = 20
	cluster := pgtest.NewCluster(t)
	db, err := sql.Open("pgx", cluster.DSN("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	books := books{t, db}
	books.do(effectsTable)
	m := &merchant{t: t, mock: mockserver.RunT(t), quiet: slog.New(slog.DiscardHandler)}
	m.client, err = payments.New(payments.Config{BaseURL: m.mock.URL(), Token: m.mock.Token()})
	require.NoError(t, err)
	t.Cleanup(m.client.CloseIdleConnections)
	m.box, err = inbox.Open(t.Context(), inbox.Config{DB: db, Client: m.client, Handler: grant, Logger: m.quiet})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.box.Close()) })
	m.hook, err = webhook.New(webhook.Config{Client: m.client, Ledger: m.box.Webhook(), Logger: m.quiet})
	require.NoError(t, err)
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = m.create(i)
	}
	running(t, m.box)
	require.Eventually(t, func() bool {
		_, err := m.box.LastReport(t.Context())
		return err == nil
	}, patience, 5*time.Millisecond, "the reconciliation of the start")

	require.NoError(t, cluster.Stop("fast"))
	var posts sync.WaitGroup
	for _, id := range ids[:n/2] { // at once, before anybody knows
		m.deposit(id)
		posts.Go(func() { m.post(id) })
	}
	posts.Wait()
	confirmed := 0
	for _, id := range ids[:n/2] {
		if m.statusOf(id) == mockserver.StatusComplete {
			confirmed++
		}
	}
	require.Positive(t, confirmed)
	for _, id := range ids[n/2:] {
		m.deposit(id)
		require.Equal(t, http.StatusServiceUnavailable, m.post(id))
		require.Equal(t, mockserver.StatusProgress, m.statusOf(id), "it is not confirmed while nothing can store it")
	}
	require.NoError(t, cluster.Start())
	began := time.Now()
	books.awaitDone(n) // far less than Config.ReconcileEvery
	t.Logf("%d of %d confirmed and not stored; all granted %v after the end of the outage", confirmed, n, time.Since(began).Round(time.Millisecond))
	books.requireExact(n)
}
