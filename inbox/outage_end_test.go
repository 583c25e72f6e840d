package inbox_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

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
