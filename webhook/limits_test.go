package webhook_test

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

// TestMaxConcurrent: another id is rejected at the limit, an id in progress is not, and the
// place is free again afterwards.
func TestMaxConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, q := newPayment(), newPayment()
		client := newService(p, q)
		gate := make(chan struct{})
		client.during = func(context.Context, uuid.UUID) error { <-gate; return nil }
		h := newHandler(t, webhook.Config{Client: client, MaxConcurrent: 1})
		var all sync.WaitGroup
		all.Go(func() { assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code) })
		synctest.Wait()
		w := serve(h, named(q.ID))
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Equal(t, "5", w.Header().Get("Retry-After"))
		assert.Equal(t, webhook.OutcomeLimited, h.seen.last(t).Outcome)
		all.Go(func() { assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code) })
		synctest.Wait()
		close(gate)
		all.Wait()
		assert.Equal(t, http.StatusOK, serve(h, named(q.ID)).Code)
	})
}

// TestConfirmRate: confirms are limited, repeats of handled payments are not, and the
// bucket fills again.
func TestConfirmRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		client := newService(p)
		g := newGranter()
		h := newHandler(t, webhook.Config{
			Client: client, Sink: newMemory(t, g.grant, nil), ConfirmRate: 2, ConfirmBurst: 3,
		})
		stranger := func() webhook.Outcome { serve(h, named(uuid.New())); return h.seen.last(t).Outcome }
		assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
		assert.Equal(t, webhook.OutcomeUnconfirmed, stranger())
		assert.Equal(t, webhook.OutcomeUnconfirmed, stranger())
		w := serve(h, named(uuid.New()))
		assert.Equal(t, webhook.OutcomeLimited, h.seen.last(t).Outcome)
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Equal(t, "5", w.Header().Get("Retry-After"))
		for range 100 {
			assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
		}
		assert.EqualValues(t, 3, client.calls.Load())
		<-time.After(500 * time.Millisecond)
		assert.Equal(t, webhook.OutcomeUnconfirmed, stranger())
		assert.Equal(t, webhook.OutcomeLimited, stranger())
	})
}

func TestDefaultConfirmRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for rate, want := range map[float64]int{0: 200, 0.1: 1, -1: 1000} {
			client := newService()
			h := newHandler(t, webhook.Config{Client: client, ConfirmRate: rate})
			for range 1000 {
				serve(h, named(uuid.New()))
			}
			assert.EqualValues(t, want, client.calls.Load(), "rate %v", rate)
		}
	})
}

// TestFlood: random ids leave nothing behind, neither in the Handler nor in Memory.
func TestFlood(t *testing.T) {
	// Not parallel: it measures the heap.
	g := newGranter()
	h, err := webhook.New(webhook.Config{Client: newService(), Sink: newMemory(t, g.grant, nil)})
	require.NoError(t, err)
	flood := func(n int) {
		for range n {
			if code := serve(h, named(uuid.New())).Code; code != http.StatusTooManyRequests {
				require.Fail(t, "unexpected status", "%d", code)
			}
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	flood(1000)
	before := heap()
	flood(20_000)
	assert.Less(t, heap(), before+200<<10, "the flood left more than 10 bytes an id behind")
	assert.Empty(t, g.grants)
	require.NoError(t, h.Wait(t.Context()))
}

// TestFloodWhileTheServiceHangs: MaxConcurrent bounds the confirms under way.
func TestFloodWhileTheServiceHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newService()
		client.during = func(ctx context.Context, _ uuid.UUID) error { <-ctx.Done(); return ctx.Err() }
		h := newHandler(t, webhook.Config{Client: client, MaxConcurrent: 16, ConfirmRate: -1})
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() { assert.Equal(t, http.StatusTooManyRequests, serve(h, named(uuid.New())).Code) })
		}
		all.Wait()
		limited := 0
		for _, e := range h.seen.all() {
			if e.Outcome == webhook.OutcomeLimited {
				limited++
			}
		}
		assert.Equal(t, 484, limited)
		assert.EqualValues(t, 16, client.calls.Load())
	})
}
