package poller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// TestStopWithoutWork: Run returns at once if it stops before the first poll, while it waits, or in a backoff.
func TestStopWithoutWork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script []answer
		stop   time.Duration
		polls  int
	}{
		"before the start": {nil, -1, 0},
		"while waiting":    {nil, time.Second, 1},
		"in a backoff":     {[]answer{{err: errTest}}, time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src := newSource(t, test.script...)
				ctx, cancel := context.WithTimeout(t.Context(), test.stop)
				defer cancel()
				began := time.Now()
				require.NoError(t, newPoller(t, poller.Config{Client: src, Sink: newSink(t)}).Run(ctx))
				assert.Equal(t, max(0, test.stop), time.Since(began))
				assert.Len(t, src.times(), test.polls)
			})
		})
	}
}

// TestStopInNext: Run waits for a poll under way, however long, hands its payment over with the
// whole ShutdownTimeout, and makes no other poll.
func TestStopInNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		want := newPayment()
		src := newSource(t, answer{p: want, takes: 50 * time.Second}, answer{p: newPayment()})
		box := newSink(t)
		box.during = func(ctx context.Context, _ payments.Payment) error {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 30*time.Second, time.Until(deadline))
			select {
			case <-time.After(20 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p := newPoller(t, poller.Config{Client: src, Sink: box})
		took, err := runFor(t, p, time.Second)
		require.NoError(t, err)
		assert.Equal(t, 69*time.Second, took)
		assert.Equal(t, []uuid.UUID{want.ID}, box.ids())
		assert.Len(t, src.times(), 1)
	})
}

// TestStopInNextThatFails: the end of the context is no error, a lost response is ambiguous.
func TestStopInNextThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err               error
		errors, ambiguous int64
	}{
		"not sent":  {context.Canceled, 0, 0},
		"empty":     {payments.ErrNoProcessedPayment, 0, 0},
		"ambiguous": {errors.Join(payments.ErrAmbiguous, context.Canceled), 0, 1},
		"other":     {errTest, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPoller(t, poller.Config{Client: newSource(t, answer{err: test.err, takes: time.Minute}), Sink: newSink(t)})
				took, err := runFor(t, p, time.Second)
				require.NoError(t, err)
				assert.Equal(t, 59*time.Second, took)
				assert.Equal(t, test.errors, p.Stats().Errors)
				assert.Equal(t, test.ambiguous, p.Stats().Ambiguous)
			})
		})
	}
}

// TestStopInAccept: a hand-over under way is finished, and its context does not end with Run's.
func TestStopInAccept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(2)
		src, box := newSource(t, found(list...)...), newSink(t)
		box.during = func(ctx context.Context, _ payments.Payment) error {
			<-time.After(10 * time.Second)
			return ctx.Err()
		}
		p := newPoller(t, poller.Config{Client: src, Sink: box})
		took, err := runFor(t, p, time.Second)
		require.NoError(t, err)
		assert.Equal(t, 9*time.Second, took)
		assert.Equal(t, ids(list[:1]), box.ids())
		assert.Len(t, src.times(), 1, "a poll after the stop")
	})
}

// TestStopWithHangingSink: ShutdownTimeout bounds an Accept under way and the last attempts
// together; the payments that are left are returned whole.
func TestStopWithHangingSink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(1)
		box, seen := newSink(t), &events{}
		box.during = func(ctx context.Context, _ payments.Payment) error { <-ctx.Done(); return ctx.Err() }
		p := newPoller(t, poller.Config{
			Client: newSource(t, found(list...)...), Sink: box, OnEvent: seen.add,
			AcceptTimeout: time.Hour, ShutdownTimeout: 7 * time.Second,
		})
		took, err := runFor(t, p, time.Second)
		assert.Equal(t, 7*time.Second, took)
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, list, unhanded.Payments)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, list[0].ID.String())
		require.Len(t, seen.of(poller.KindUnhanded), 1)
		assert.Equal(t, list[0], seen.of(poller.KindUnhanded)[0].Payment)
		assert.Zero(t, seen.of(poller.KindUnhanded)[0].Pending)
		s := p.Stats()
		assert.EqualValues(t, 1, s.Unhanded)
		assert.Zero(t, s.Pending)
	})
}

// TestLastAttempts: every pending payment is offered once more, at once.
func TestLastAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(5)
		src, box, seen := newSource(t, found(list...)...), newSink(t), &events{}
		for _, p := range list {
			box.failing(p, 1)
		}
		box.failing(list[3], -1)
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add})
		took, err := runFor(t, p, 100*time.Millisecond) // before the first retry
		assert.Zero(t, took)
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, list[3:4], unhanded.Payments)
		require.ErrorIs(t, err, errTest)
		assert.Equal(t, ids([]payments.Payment{list[0], list[1], list[2], list[4]}), box.ids())
		assert.Len(t, box.callsFor(list[3]), 2)
		failed := seen.of(poller.KindSinkFailed)
		assert.Zero(t, failed[len(failed)-1].Wait)
	})
}

// TestStopWhilePendingFull: pending payments are offered once more if polling has stopped for them.
func TestStopWhilePendingFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(3)
		src, box := newSource(t, found(list...)...), newSink(t)
		healthy := time.Now().Add(time.Minute + time.Nanosecond)
		box.during = func(context.Context, payments.Payment) error {
			if time.Now().Before(healthy) {
				return errTest
			}
			return nil
		}
		p := newPoller(t, poller.Config{Client: src, Sink: box, MaxPending: 2})
		took, err := runFor(t, p, time.Minute+time.Nanosecond)
		require.NoError(t, err)
		assert.Zero(t, took)
		assert.Equal(t, ids(list[:2]), box.ids())
		assert.Len(t, src.times(), 2)
	})
}

// TestLastAttemptsShareTheTime: a payment that hangs in the Sink leaves the others their share of
// ShutdownTimeout.
func TestLastAttemptsShareTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(3)
		box := newSink(t)
		stopping := time.Now().Add(100 * time.Millisecond)
		box.during = func(ctx context.Context, p payments.Payment) error {
			switch {
			case time.Now().Before(stopping):
				return errTest
			case p.ID == list[0].ID:
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		p := newPoller(t, poller.Config{Client: newSource(t, found(list...)...), Sink: box})
		took, err := runFor(t, p, 100*time.Millisecond)
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, list[:1], unhanded.Payments)
		assert.Equal(t, ids(list[1:]), box.ids())
		assert.Equal(t, 10*time.Second, took)
	})
}

// TestRunTwice: a second Run at the same time fails; a later one does not, and does not have the
// payments that the first one returned.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(1)
		box := newSink(t)
		box.failing(list[0], 2)
		p := newPoller(t, poller.Config{Client: newSource(t, found(list...)...), Sink: box})
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- p.Run(ctx) }()
		synctest.Wait()
		require.ErrorIs(t, p.Run(t.Context()), poller.ErrRunning)
		cancel()
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, <-first, &unhanded)
		mustRun(t, p, time.Minute)
		assert.Empty(t, box.ids())
		assert.EqualValues(t, 1, p.Stats().Unhanded)
	})
}

// TestHookStops: a hook that ends the context is obeyed before the next poll, also by the event just before it.
func TestHookStops(t *testing.T) {
	t.Parallel()
	for _, kind := range []poller.Kind{poller.KindReceived, poller.KindResumed} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			list := newPayments(2)
			src, box := newSource(t, found(list...)...), newSink(t)
			box.failing(list[0], 1)
			p := newPoller(t, poller.Config{Client: src, Sink: box, MaxPending: 1, OnEvent: func(e poller.Event) {
				if e.Kind == kind {
					cancel()
				}
			}})
			require.NoError(t, p.Run(ctx))
			assert.Equal(t, ids(list[:1]), box.ids())
			assert.Len(t, src.times(), 1)
		})
	}
}

// TestStopInRetry: a payment that hangs in the Sink when the stop begins leaves the others, whose
// retries are due, their share of ShutdownTimeout.
func TestStopInRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(3)
		box := newSink(t)
		stopping := time.Now().Add(10 * time.Second)
		for _, p := range list {
			box.failing(p, 1)
		}
		box.during = func(ctx context.Context, p payments.Payment) error {
			switch {
			case p.ID != list[2].ID:
				<-ctx.Done()
			case time.Now().Before(stopping):
				return errTest
			default:
				<-time.After(time.Second)
			}
			return ctx.Err()
		}
		p := newPoller(t, poller.Config{Client: newSource(t, found(list...)...), Sink: box, AcceptTimeout: time.Hour})
		took, err := runFor(t, p, 10*time.Second)
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, list[:2], unhanded.Payments)
		assert.Equal(t, ids(list[2:]), box.ids())
		assert.LessOrEqual(t, took, 30*time.Second)
		calls := len(box.callsFor(list[0])) + len(box.callsFor(list[1]))
		assert.Equal(t, 5, calls, "first attempts, one retry cut short, one last attempt each")
	})
}

// TestTokenRefusedWithHangingSink: ShutdownTimeout starts at the refusal, and is shared evenly.
func TestTokenRefusedWithHangingSink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(3)
		box := newSink(t)
		for _, p := range list {
			box.failing(p, 1)
		}
		var took []time.Duration
		box.during = func(ctx context.Context, _ payments.Payment) error {
			began := time.Now()
			<-ctx.Done()
			took = append(took, time.Since(began))
			return ctx.Err()
		}
		p := newPoller(t, poller.Config{
			Client: newSource(t, append(found(list...), answer{err: payments.ErrTokenRefused})...), Sink: box, AcceptTimeout: time.Hour,
			StopOnTokenRefused: true,
		})
		err := p.Run(t.Context())
		require.ErrorIs(t, err, payments.ErrTokenRefused)
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, list, unhanded.Payments)
		assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second}, took)
	})
}
