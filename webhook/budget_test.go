package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// timed serves r and returns the status and the (fake) time that it took.
func timed(h http.Handler, r *http.Request) (int, time.Duration) {
	began := time.Now()
	w := serve(h, r)
	return w.Code, time.Since(began)
}

// TestConfirmIgnoresItsContext: the sender is answered at the budget; the confirm keeps
// its place, and the next delivery gets its result.
func TestConfirmIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		client := newService(p)
		client.during = func(context.Context, uuid.UUID) error { <-time.After(25 * time.Second); return nil }
		g := newGranter()
		h := newHandler(t, webhook.Config{Client: client, Sink: newMemory(t, g.grant, nil)})

		status, took := timed(h, named(p.ID))
		assert.Equal(t, http.StatusTooManyRequests, status)
		assert.Equal(t, 8*time.Second, took)
		assert.Equal(t, webhook.OutcomeTimeout, h.seen.last(t).Outcome)

		<-time.After(5 * time.Second) // the service's second attempt, while the first is in progress
		status, took = timed(h, named(p.ID))
		assert.Equal(t, http.StatusTooManyRequests, status)
		assert.Equal(t, 8*time.Second, took)
		assert.EqualValues(t, 1, client.calls.Load(), "a second confirm next to the first")

		status, took = timed(h, named(p.ID)) // at 21 s: the first ends at 25 s
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, 4*time.Second, took)
		assert.EqualValues(t, 1, client.calls.Load())
		assert.Equal(t, 1, g.count(p.ID))
	})
}

// TestBudgetBounds: the contexts of the Sink and the Client end with the budget.
func TestBudgetBounds(t *testing.T) {
	t.Parallel()
	block := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	slow := func(ctx context.Context) error { <-time.After(2 * time.Second); return nil }
	none := func(context.Context) error { return nil }
	tests := map[string]struct {
		handled, confirm, accept func(context.Context) error
		outcome                  webhook.Outcome
		answered, done           time.Duration
	}{
		"Handled hangs":             {block, none, none, webhook.OutcomeTimeout, 3 * time.Second, 3 * time.Second},
		"Confirm hangs":             {none, block, none, webhook.OutcomeTimeout, 3 * time.Second, 3 * time.Second},
		"Accept hangs":              {none, none, block, webhook.OutcomeTimeout, 3 * time.Second, 3 * time.Second},
		"Accept has its own budget": {none, slow, block, webhook.OutcomeTimeout, 3 * time.Second, 5 * time.Second},
		"slow but in time":          {none, slow, none, webhook.OutcomeAccepted, 2 * time.Second, 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPayment()
				client := newService(p)
				client.during = func(ctx context.Context, _ uuid.UUID) error { return test.confirm(ctx) }
				h := newHandler(t, webhook.Config{Client: client, Budget: 3 * time.Second, Sink: &sink{
					handled: func(ctx context.Context, _ uuid.UUID) (bool, error) { return false, test.handled(ctx) },
					accept:  func(ctx context.Context, _ payments.Payment) error { return test.accept(ctx) },
				}})
				began := time.Now()
				_, took := timed(h, named(p.ID))
				assert.Equal(t, test.answered, took)
				assert.Equal(t, test.answered, h.seen.last(t).Duration)
				require.NoError(t, h.Wait(t.Context()))
				assert.Equal(t, test.done, time.Since(began))
				// At the very instant of the budget the result and the timer may both be there.
				if e := h.seen.last(t); test.done == test.answered && test.outcome == webhook.OutcomeTimeout {
					want := http.StatusServiceUnavailable
					if name == "Confirm hangs" {
						want = http.StatusTooManyRequests
					}
					assert.Equal(t, want, e.Status)
				} else {
					assert.Equal(t, test.outcome, e.Outcome)
				}
			})
		})
	}
}

// TestNoConfirmWithoutTime: there is no confirm after a Handled that outlives the budget: it
// would complete the payment with no time left to store it.
func TestNoConfirmWithoutTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newService()
		h := newHandler(t, webhook.Config{Client: client, Sink: &sink{
			handled: func(context.Context, uuid.UUID) (bool, error) { <-time.After(9 * time.Second); return false, nil },
		}})
		status, took := timed(h, named(uuid.New()))
		assert.Equal(t, http.StatusServiceUnavailable, status)
		assert.Equal(t, 8*time.Second, took)
		require.NoError(t, h.Wait(t.Context()))
		assert.Zero(t, client.calls.Load())
	})
}

// TestSlowBody: a body that does not end is answered at the budget, and the goroutine that
// reads it ends.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newService()
		h := newHandler(t, webhook.Config{Client: client})
		body, sender := io.Pipe()
		defer func() { _ = sender.Close() }()
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.Header.Set("Content-Type", "application/json")
		w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder(), body: body}
		began := time.Now()
		go func() { _, _ = sender.Write([]byte(`{"payment_id":`)) }()
		h.ServeHTTP(w, r)
		assert.Equal(t, http.StatusRequestTimeout, w.Code)
		assert.Equal(t, 8*time.Second, time.Since(began))
		assert.Zero(t, client.calls.Load())
		synctest.Wait() // the reading goroutine has ended, or the bubble would not
		assert.True(t, w.passed.Load())
	})
}

// deadlineWriter does to body what a server does when a read deadline passes.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	body   *io.PipeReader
	passed atomic.Bool
}

func (w *deadlineWriter) SetReadDeadline(at time.Time) error {
	w.passed.Store(!at.After(time.Now()))
	return w.body.CloseWithError(context.DeadlineExceeded)
}

// TestSlowBodyLeavesLessTime: the budget counts from the header on.
func TestSlowBodyLeavesLessTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newService()
		client.during = func(ctx context.Context, _ uuid.UUID) error { <-ctx.Done(); return ctx.Err() }
		h := newHandler(t, webhook.Config{Client: client})
		body, sender := io.Pipe()
		go func() {
			<-time.After(6 * time.Second)
			_, _ = sender.Write([]byte(`{"payment_id":"` + someID + `"}`))
			_ = sender.Close()
		}()
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.Header.Set("Content-Type", "application/json")
		status, took := timed(h, r)
		assert.Equal(t, http.StatusTooManyRequests, status)
		assert.Equal(t, 8*time.Second, took)
	})
}

// TestSlowHook: OnDelivery does not delay the response.
func TestSlowHook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, webhook.Config{OnDelivery: func(webhook.Event) { <-time.After(time.Hour) }})
		w := httptest.NewRecorder()
		var all sync.WaitGroup
		all.Go(func() { h.ServeHTTP(w, delivery(`{}`)) })
		synctest.Wait()
		assert.True(t, w.Flushed)
		assert.Equal(t, http.StatusBadRequest, w.Code)
		all.Wait()
	})
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newService()
		client.during = func(context.Context, uuid.UUID) error { <-time.After(time.Minute); return errTest }
		h := newHandler(t, webhook.Config{Client: client})
		require.NoError(t, h.Wait(t.Context()), "nothing is in progress")
		status, _ := timed(h, named(uuid.New()))
		assert.Equal(t, http.StatusTooManyRequests, status)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, h.Wait(ctx), context.DeadlineExceeded)
		require.NoError(t, h.Wait(t.Context()))
	})
}
