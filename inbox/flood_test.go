package inbox_test

import (
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestFlood: anyone who posts random ids costs the configured rate of confirms and a bounded
// number of rows, and a real payment in the middle of it is granted while the flood goes on.
func TestFlood(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ledger.Close()) })
		testFlood(t, inbox.Config{SQLite: ledger}, books{t, ledger.Writer})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		testFlood(t, inbox.Config{DB: db.DB}, books{t, db.DB})
	})
}

func testFlood(t *testing.T, cfg inbox.Config, books books) {
	n := int64(100_000)
	if testing.Short() || racing.On {
		n = 10_000
	}
	const callers, hookRate, boxRate, maxHints = 64, 50, 5, 40
	cfg.ConfirmRate, cfg.MaxHints, cfg.ReconcileEvery = boxRate, maxHints, -1
	m := newMerchant(t, cfg, webhook.Config{ConfirmRate: hookRate}, mockserver.Config{MaxRequests: 1_000_000})
	real := m.create(1)
	_, err := m.box.Reconcile(t.Context()) // the one of the start is over, or has nothing to ask
	require.NoError(t, err)
	before := confirms(m)

	began := time.Now()
	var sent, most atomic.Int64
	var granted atomic.Bool
	var flood sync.WaitGroup
	answers := [callers]map[int]int{}
	for c := range callers {
		answers[c] = map[int]int{}
		flood.Go(func() {
			// It goes on until the real payment is granted: if it never is, until patience ends.
			for sent.Add(1) <= n || !granted.Load() && time.Since(began) < patience {
				answers[c][m.post(uuid.New())]++
			}
		})
	}
	require.Eventually(t, func() bool { return sent.Load() > n/3 }, 3*patience, time.Millisecond)
	m.deposit(real)
	deposited := time.Now()
	require.Equal(t, http.StatusOK, m.post(real), "a real one in the middle, named once")
	for books.effects(real) == 0 {
		require.Less(t, time.Since(deposited), patience, "not granted while the flood goes on")
		<-time.After(2 * time.Millisecond)
		most.Store(max(most.Load(), int64(books.hints())))
	}
	took, at := time.Since(deposited), sent.Load()
	granted.Store(true)
	flood.Wait()
	elapsed := time.Since(began)

	total := map[int]int{}
	for _, a := range answers {
		for code, count := range a {
			total[code] += count
		}
	}
	require.Empty(t, total[http.StatusOK])
	asked := confirms(m) - before
	limit := int(elapsed.Seconds()*(hookRate+boxRate)) + 2*hookRate + boxRate + 2
	t.Logf("%d ids in %v: %v; %d confirms, at most %d allowed; the real one granted after %v, at the %dth",
		sent.Load(), elapsed.Round(time.Millisecond), total, asked, limit, took.Round(time.Millisecond), at)
	require.Less(t, at, sent.Load(), "it was granted before the end")
	require.LessOrEqual(t, asked, limit)
	promised := 2 * time.Second
	if racing.On {
		promised = 10 * time.Second
	}
	require.Less(t, took, promised)
	require.Equal(t, 1, books.effects(real))
	require.Eventually(t, func() bool { return books.hints() <= maxHints }, patience, 20*time.Millisecond, "rows of strangers' ids")
	// Between two evictions come as many as the webhook lets through in a few seconds.
	require.LessOrEqual(t, most.Load(), int64(maxHints+2*hookRate+5*hookRate))
}

func confirms(m *merchant) (n int) {
	for _, r := range m.mock.Requests() {
		if r.Path == "/payments/confirm" {
			n++
		}
	}
	return n
}

func (b books) hints() int {
	return b.number(`SELECT count(*) FROM {p}payments WHERE stage = {hint}`)
}
