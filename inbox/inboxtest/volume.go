package inboxtest

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// post delivers a webhook and returns the answer's status.
func post(h http.Handler, id uuid.UUID) int {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/hook", strings.NewReader(`{"payment_id":"`+id.String()+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// testSlowHandler: while handlers keep their transactions open, acceptances of other
// payments, and of those very ones, are answered. The handlers stay inside until the
// last acceptance is: if one waited for a handler, both would wait.
func testSlowHandler(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.Concurrency = true, 4 })
	held := []payments.Payment{paid("slow-1", 1), paid("slow-2", 1), paid("slow-3", 1), paid("slow-4", 1)}
	entered, leave := make(chan struct{}, len(held)), make(chan struct{})
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		if err := grant(ctx, tx, p); err != nil {
			return err
		}
		if strings.HasPrefix(p.Identifier, "slow") {
			entered <- struct{}{}
			<-leave
		}
		return nil
	})
	s.run()
	letGo := sync.OnceFunc(func() { close(leave) })
	t.Cleanup(letGo) // before Run's, which waits for them
	for _, p := range held {
		s.accept(p)
	}
	inside := len(held)
	if s.cfg.SQLite != nil {
		inside = 1 // the file has one writer
	}
	for range inside {
		<-entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), min(timeLimit, 20*time.Second)) // handlers may take 30 s
	defer cancel()
	waits := make([]time.Duration, 400)
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			for i := caller; i < len(waits); i += 4 {
				p := paid("quick", 1)
				if i%2 == 0 {
					p = held[i/2%len(held)]
				}
				began := time.Now()
				assert.NoError(t, s.box.Webhook().Accept(ctx, p), "an acceptance must not wait for a handler")
				waits[i] = time.Since(began)
			}
		})
	}
	callers.Wait()
	slices.Sort(waits)
	t.Logf("accept while %d handlers hold their transactions: p50 %v, p99 %v", inside, waits[len(waits)/2], waits[len(waits)*99/100])
	letGo()
	for _, p := range held {
		s.requireGrantedOnce(p.ID.String())
	}
}

// testManyPayments sends thousands of payments over webhook, poll and both at once,
// with repeats, disorder and failures, and compares the books.
func testManyPayments(t *testing.T, open func(*testing.T) Database) {
	n := racing.Size(10_000, 300)
	if testing.Short() {
		n = min(n, 1000)
	}
	s := newShop(t, open, func(c *inbox.Config) { c.Concurrency = 8 })
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a seed, to be the same each time
	var mu sync.Mutex
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		if err := grant(ctx, tx, p); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(20) == 0 {
			return errHandler
		}
		return nil
	})
	s.run()
	hook, err := webhook.New(webhook.Config{Client: s.client, Ledger: s.box.Webhook(), MaxConcurrent: 1 << 20})
	require.NoError(t, err)
	stopPolling := s.poll()

	ids := s.createMany(n)
	var wg sync.WaitGroup
	work := make(chan uuid.UUID)
	for range 16 {
		wg.Go(func() {
			for id := range work {
				_, err := s.mock.Deposit(id.String(), mockserver.Deposit{})
				require.NoError(t, err)
				for range id[0] % 3 { // none: by poll alone; otherwise both, and repeated
					post(hook, id)
				}
			}
		})
	}
	for _, i := range random.Perm(n) {
		work <- ids[i]
	}
	close(work)
	wg.Wait()
	require.Eventually(t, func() bool {
		status, err := s.box.Status(t.Context())
		return err == nil && status.Count[inbox.StageDone] == int64(n)
	}, 10*time.Minute, 250*time.Millisecond) // Status counts them each time
	stopPolling()
	s.requireBooks(ids)
}

func (s *shop) createMany(n int) []uuid.UUID {
	s.t.Helper()
	ids := make([]uuid.UUID, n)
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < n; i += 16 {
				created, err := s.box.Create(s.t.Context(), request("order-"+uuid.NewString(), int64(i+1)))
				require.NoError(s.t, err)
				ids[i] = created.PayToken
			}
		})
	}
	wg.Wait()
	return ids
}

func (s *shop) poll() (stop func()) {
	s.t.Helper()
	p, err := poller.New(poller.Config{
		Client: s.client, Ledger: s.box.Poller(), Logger: s.cfg.Logger,
		IntervalMin: 10 * time.Millisecond, IntervalMax: 20 * time.Millisecond,
	})
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(s.t, <-done)
	}
}

// requireBooks compares the service's completed payments, the ledger and the effects.
func (s *shop) requireBooks(ids []uuid.UUID) {
	s.t.Helper()
	complete := map[string]bool{}
	for _, p := range s.mock.Payments() {
		if p.Status == mockserver.StatusComplete {
			complete[p.ID] = true
		}
	}
	require.Len(s.t, complete, len(ids))
	for e, err := range s.box.List(s.t.Context(), inbox.Filter{}) {
		require.NoError(s.t, err)
		require.Equal(s.t, inbox.StageDone, e.Stage)
		require.True(s.t, complete[e.Key])
		delete(complete, e.Key)
	}
	require.Empty(s.t, complete, "complete at the service and not in the ledger")
	var rows, distinct int
	require.NoError(s.t, s.db.Ledger.QueryRowContext(s.t.Context(), `SELECT count(*), count(DISTINCT payment_id) FROM effects`).Scan(&rows, &distinct))
	require.Equal(s.t, len(ids), distinct, "not every payment has its effect")
	require.Equal(s.t, len(ids), rows, "an effect happened twice")
}
