package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestManyDeliveriesOfOnePayment: 64 deliveries at once cause one confirm and one grant, and
// each is answered 200.
func TestManyDeliveriesOfOnePayment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		client := newService(p)
		gate := make(chan struct{})
		client.during = func(context.Context, uuid.UUID) error { <-gate; return nil }
		g := newGranter()
		h := newHandler(t, webhook.Config{Client: client, Sink: newMemory(t, g.grant, nil), MaxConcurrent: 1})
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() { assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code) })
		}
		synctest.Wait() // all wait for the one confirm
		close(gate)
		all.Wait()
		assert.EqualValues(t, 1, client.calls.Load())
		assert.Equal(t, 1, g.count(p.ID))
		counts := map[webhook.Outcome]int{}
		for _, e := range h.seen.all() {
			counts[e.Outcome]++
		}
		assert.Equal(t, map[webhook.Outcome]int{webhook.OutcomeAccepted: 1, webhook.OutcomeRepeated: 63}, counts)
	})
}

// TestRealGoroutines is TestManyDeliveriesOfOnePayment without a bubble, for the race detector.
func TestRealGoroutines(t *testing.T) {
	t.Parallel()
	list := make([]payments.Payment, 8)
	for i := range list {
		list[i] = newPayment()
	}
	g := newGranter()
	h := newHandler(t, webhook.Config{Client: newService(list...), Sink: newMemory(t, g.grant, nil), ConfirmRate: -1})
	var all sync.WaitGroup
	for i := range 64 * len(list) {
		all.Go(func() { assert.Equal(t, http.StatusOK, serve(h, named(list[i%len(list)].ID)).Code) })
	}
	all.Wait()
	for _, p := range list {
		assert.Equal(t, 1, g.count(p.ID))
	}
}

// TestForgedBeforePaying: the real webhook is granted although the customer, who knows the id,
// sent it before paying. Repeats after the grant are not confirmed.
func TestForgedBeforePaying(t *testing.T) {
	t.Parallel()
	p := newPayment()
	client := newService()
	g := newGranter()
	h := newHandler(t, webhook.Config{Client: client, Sink: newMemory(t, g.grant, nil)})
	for range 3 {
		w := serve(h, named(p.ID))
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Equal(t, "5", w.Header().Get("Retry-After"))
	}
	assert.Zero(t, g.count(p.ID))
	client.pay(p)
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
	assert.Equal(t, 1, g.count(p.ID))
	asked := client.calls.Load()
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
	assert.Equal(t, asked, client.calls.Load(), "a handled payment was confirmed again")
	assert.Equal(t, 1, g.count(p.ID))
}

// TestNotVerified: only the COMPLETE record of the requested id reaches the Sink, whatever the
// Client returns, and every failure looks the same to the sender.
func TestNotVerified(t *testing.T) {
	t.Parallel()
	good := newPayment()
	other := newPayment()
	progress := good
	progress.Status = payments.StatusProgress
	noStatus := good
	noStatus.Status = ""
	answers := map[string]struct {
		p   payments.Payment
		err error
		is  error
	}{
		"unknown":       {err: errTest, is: errTest},
		"ambiguous":     {err: payments.ErrAmbiguous, is: payments.ErrAmbiguous},
		"token refused": {err: payments.ErrTokenRefused, is: payments.ErrTokenRefused},
		"not complete":  {p: progress, err: payments.ErrNotComplete, is: payments.ErrNotComplete},
		"progress, nil": {p: progress, is: payments.ErrNotComplete},
		"no status":     {p: noStatus, is: payments.ErrNotComplete},
		"other payment": {p: other, is: payments.ErrWrongPayment},
		"empty":         {is: payments.ErrWrongPayment},
	}
	reference := ""
	for name, test := range answers {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, webhook.Config{
				Client: confirmerFunc(func(context.Context, uuid.UUID) (payments.Payment, error) { return test.p, test.err }),
				Sink: &sink{accept: func(context.Context, payments.Payment) error {
					assert.Fail(t, "an unverified payment reached the Sink")
					return nil
				}},
			})
			w := serve(h, named(good.ID))
			assert.Equal(t, http.StatusTooManyRequests, w.Code)
			var dump bytes.Buffer
			require.NoError(t, w.Result().Header.Write(&dump))
			dump.Write(w.Body.Bytes())
			if reference == "" {
				reference = dump.String()
			}
			assert.Equal(t, reference, dump.String(), "the response reveals which failure it was")
			want := webhook.OutcomeUnconfirmed
			if errors.Is(test.is, payments.ErrAmbiguous) {
				want = webhook.OutcomeAmbiguous
			}
			assert.Equal(t, want, h.seen.last(t).Outcome)
			require.ErrorIs(t, h.seen.last(t).Err, test.is)
		})
	}
}

type confirmerFunc func(context.Context, uuid.UUID) (payments.Payment, error)

func (f confirmerFunc) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	return f(ctx, id)
}

// TestHandOverFails: the status is 503, the hook gets the whole payment, and the next delivery
// tries again.
func TestHandOverFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errTest },
		"panic": func() error { panic(errTest) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPayment()
			var failing atomic.Bool
			failing.Store(true)
			var kept []payments.Payment
			var logged bytes.Buffer
			h := newHandler(t, webhook.Config{
				Client: newService(p),
				Sink: newMemory(t, func(context.Context, payments.Payment) error {
					if failing.Load() {
						return fail()
					}
					return nil
				}, nil),
				OnHandOverFailed: func(p payments.Payment, err error) {
					assert.ErrorIs(t, err, errTest)
					kept = append(kept, p)
					panic("the hook fails as well")
				},
				Logger: slog.New(slog.NewTextHandler(&logged, nil)),
			})
			assert.Equal(t, http.StatusServiceUnavailable, serve(h, named(p.ID)).Code)
			assert.Equal(t, webhook.OutcomeSinkFailed, h.seen.last(t).Outcome)
			require.ErrorIs(t, h.seen.last(t).Err, errTest)
			assert.Equal(t, []payments.Payment{p}, kept)
			assert.Contains(t, logged.String(), p.ID.String())
			failing.Store(false)
			assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
			assert.Equal(t, webhook.OutcomeAccepted, h.seen.last(t).Outcome)
		})
	}
}

// TestClientPanics: the status is 429, and the next delivery is granted.
func TestClientPanics(t *testing.T) {
	t.Parallel()
	p := newPayment()
	client := newService(p)
	broken := true
	client.during = func(context.Context, uuid.UUID) error {
		if broken {
			panic("no such thing")
		}
		return nil
	}
	h := newHandler(t, webhook.Config{Client: client})
	assert.Equal(t, http.StatusTooManyRequests, serve(h, named(p.ID)).Code)
	assert.Equal(t, webhook.OutcomeUnconfirmed, h.seen.last(t).Outcome)
	require.ErrorContains(t, h.seen.last(t).Err, "Client.Confirm panicked: no such thing")
	broken = false
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
}

// TestGoexit: code that ends its goroutine, as t.FailNow does, frees its place.
func TestGoexit(t *testing.T) {
	t.Parallel()
	p := newPayment()
	var exit atomic.Bool
	exit.Store(true)
	h := newHandler(t, webhook.Config{Client: newService(p), MaxConcurrent: 1, Sink: newMemory(t,
		func(context.Context, payments.Payment) error {
			if exit.Load() {
				runtime.Goexit()
			}
			return nil
		}, nil)})
	assert.Equal(t, http.StatusServiceUnavailable, serve(h, named(p.ID)).Code)
	exit.Store(false)
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
}

// TestSenderHangsUp: the work goes on, its contexts do not end, and they keep their values.
func TestSenderHangsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		gate := make(chan struct{})
		client := newService(p)
		client.during = func(ctx context.Context, _ uuid.UUID) error {
			select {
			case <-gate:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		type key struct{}
		var spans []any
		h := newHandler(t, webhook.Config{Client: client, Sink: &sink{accept: func(ctx context.Context, _ payments.Payment) error {
			spans = append(spans, ctx.Value(key{}))
			return ctx.Err()
		}}})
		ctx, hangUp := context.WithCancel(context.WithValue(t.Context(), key{}, "span"))
		status := make(chan int, 1)
		go func() { status <- serve(h, named(p.ID).WithContext(ctx)).Code }()
		synctest.Wait()
		hangUp()
		synctest.Wait()
		close(gate)
		assert.Equal(t, http.StatusOK, <-status)
		assert.Equal(t, []any{"span"}, spans)
	})
}

func TestZeroAmountIsFinal(t *testing.T) {
	t.Parallel()
	p := newPayment()
	p.Method, p.PaidAmount = payments.MethodCulture, payments.Amount{}
	g := newGranter()
	var reviewed []error
	h := newHandler(t, webhook.Config{Client: newService(p), Sink: newMemory(t, g.grant, &webhook.MemoryOptions{
		OnReview: func(got payments.Payment, reason error) {
			assert.Equal(t, p, got)
			reviewed = append(reviewed, reason)
		},
	})})
	for range 3 {
		assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
	}
	assert.Equal(t, []error{webhook.ErrNoMoney}, reviewed)
	assert.Zero(t, g.count(p.ID))
}
