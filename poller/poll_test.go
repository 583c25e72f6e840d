package poller_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// TestInterval: the first poll is made at once, the others 3 to 5 s apart, spread evenly.
func TestInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t)
		began := time.Now()
		p := newPoller(t, poller.Config{Client: src, Sink: newSink(t)})
		took, err := runFor(t, p, time.Hour)
		require.NoError(t, err)
		assert.Zero(t, took)
		assert.Equal(t, began, src.times()[0])
		below := 0
		var low, high time.Duration = time.Hour, 0
		for _, gap := range src.gaps() {
			low, high = min(low, gap), max(high, gap)
			if gap < 4*time.Second {
				below++
			}
		}
		assert.GreaterOrEqual(t, low, 3*time.Second)
		assert.Less(t, low, 3100*time.Millisecond)
		assert.LessOrEqual(t, high, 5*time.Second)
		assert.Greater(t, high, 4900*time.Millisecond)
		assert.InDelta(t, 0.5, float64(below)/float64(len(src.gaps())), 0.1)
		s := p.Stats()
		assert.Equal(t, poller.Stats{Polls: s.Polls, Empty: s.Polls, LastPoll: src.times()[s.Polls-1]}, s)
		assert.InDelta(t, 900, s.Polls, 50)
	})
}

// TestDrain: while payments wait, polls follow each other at once, in the service's order.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(100)
		src, box := newSource(t, found(list...)...), newSink(t)
		began := time.Now()
		p := newPoller(t, poller.Config{Client: src, Sink: box})
		mustRun(t, p, time.Second)
		assert.Equal(t, ids(list), box.ids())
		s := p.Stats()
		assert.Equal(t, poller.Stats{
			Polls: 101, Empty: 1, Received: 100, HandedOver: 100,
			LastPoll: began, LastReceived: began, LastHandedOver: began,
		}, s)
	})
}

// TestNextPollWaitsForTheSink: nothing is polled while a payment is with the Sink.
func TestNextPollWaitsForTheSink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, box := newSource(t, found(newPayments(3)...)...), newSink(t)
		box.during = func(context.Context, payments.Payment) error { <-time.After(10 * time.Second); return nil }
		mustRun(t, newPoller(t, poller.Config{Client: src, Sink: box}), 31*time.Second)
		assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second}, src.gaps())
		assert.Len(t, box.ids(), 3)
	})
}

// TestBackoff: waits after failures double up to the limit, each failure is an event, and a
// success resets the wait.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := make([]answer, 10)
		for i := range script {
			script[i].err = fmt.Errorf("poll %d: %w", i, errTest)
		}
		script = append(script, answer{err: payments.ErrNoProcessedPayment}, answer{err: errTest})
		src, seen := newSource(t, script...), &events{}
		p := newPoller(t, poller.Config{Client: src, Sink: newSink(t), OnEvent: seen.add})
		mustRun(t, p, 9*time.Minute)
		gaps := src.gaps()
		for i, high := range []int{6, 12, 24, 48, 60, 60, 60, 60, 60, 60} {
			bound := time.Duration(high) * time.Second
			assert.GreaterOrEqual(t, gaps[i], bound/2, "gap %d", i)
			assert.LessOrEqual(t, gaps[i], bound, "gap %d", i)
		}
		assert.LessOrEqual(t, gaps[10], 5*time.Second, "after success")
		assert.LessOrEqual(t, gaps[11], 6*time.Second, "first failure again")
		assert.GreaterOrEqual(t, gaps[11], 3*time.Second)
		told := seen.of(poller.KindError)
		require.Len(t, told, 11)
		for i, e := range told {
			require.ErrorIs(t, e.Err, errTest)
			assert.Equal(t, src.gaps()[i+i/10], e.Wait)
		}
		assert.EqualValues(t, 11, p.Stats().Errors)
		assert.Zero(t, p.Stats().Ambiguous)
	})
}

// TestPaymentResetsBackoff: a payment resets the wait as well.
func TestPaymentResetsBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t, answer{err: errTest}, answer{err: errTest}, answer{err: errTest}, answer{p: newPayment()}, answer{err: errTest})
		mustRun(t, newPoller(t, poller.Config{Client: src, Sink: newSink(t)}), 2*time.Minute)
		assert.Zero(t, src.gaps()[3])
		assert.LessOrEqual(t, src.gaps()[4], 6*time.Second)
	})
}

// TestRetryAfter: Retry-After is honored up to BackoffMax, and never shortens the backoff.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration][2]time.Duration{
		0:                {3 * time.Second, 6 * time.Second},
		time.Second:      {3 * time.Second, 6 * time.Second},
		17 * time.Second: {17 * time.Second, 17 * time.Second},
		1<<63 - 1:        {time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			src := newSource(t, answer{err: fmt.Errorf("wrapped: %w", &payments.Error{Op: "Next", RetryAfter: asked})})
			mustRun(t, newPoller(t, poller.Config{Client: src, Sink: newSink(t)}), 65*time.Second)
			assert.GreaterOrEqual(t, src.gaps()[0], want[0])
			assert.LessOrEqual(t, src.gaps()[0], want[1])
		})
	}
}

// TestAmbiguous: each ambiguous poll is counted and an event with the unchanged error, and
// polling continues.
func TestAmbiguous(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := fmt.Errorf("lost: %w", payments.ErrAmbiguous)
		unreadable := fmt.Errorf("%w: %w", payments.ErrUndecodable, payments.ErrAmbiguous)
		later := newPayment()
		src := newSource(t, answer{err: lost}, answer{err: unreadable}, answer{panic: errTest}, answer{p: later})
		box, seen := newSink(t), &events{}
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add})
		mustRun(t, p, 2*time.Minute)
		told := seen.of(poller.KindAmbiguous)
		require.Len(t, told, 3)
		assert.Equal(t, lost, told[0].Err)
		assert.Equal(t, unreadable, told[1].Err)
		require.ErrorIs(t, told[2].Err, errTest, "a panic may have interrupted an answer")
		require.ErrorIs(t, told[2].Err, payments.ErrAmbiguous)
		assert.EqualValues(t, 3, p.Stats().Ambiguous)
		assert.Zero(t, p.Stats().Errors)
		for _, gap := range src.gaps()[:3] {
			assert.GreaterOrEqual(t, gap, 3*time.Second)
		}
		assert.Equal(t, ids([]payments.Payment{later}), box.ids())
	})
}

// TestUnverified: a record that is not COMPLETE never reaches the Sink, and is an event with all
// its fields, whether or not the Source returns an error.
func TestUnverified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := newPayment(), newPayment()
		a.Status, b.Status = payments.StatusProgress, "ODD"
		src := newSource(t, answer{p: a, err: payments.ErrNotComplete}, answer{p: b})
		box, seen := newSink(t), &events{}
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add})
		mustRun(t, p, time.Minute)
		told := seen.of(poller.KindUnverified)
		require.Len(t, told, 2)
		assert.Equal(t, a, told[0].Payment)
		assert.Equal(t, b, told[1].Payment)
		require.ErrorIs(t, told[1].Err, payments.ErrNotComplete)
		assert.Empty(t, box.ids())
		assert.EqualValues(t, 2, p.Stats().Unverified)
		assert.Zero(t, p.Stats().Received)
		assert.GreaterOrEqual(t, src.gaps()[0], 3*time.Second)
	})
}

// TestStopOnTokenRefused: Run returns the cause, after a last attempt for each pending payment.
func TestStopOnTokenRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waiting, lost := newPayment(), newPayment()
		refused := fmt.Errorf("HTTP 401: %w", payments.ErrTokenRefused)
		src := newSource(t, answer{p: waiting}, answer{p: lost}, answer{err: refused})
		box, seen := newSink(t), &events{}
		box.failing(waiting, 1)
		box.failing(lost, -1)
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add, StopOnTokenRefused: true})
		began := time.Now()
		err := p.Run(t.Context())
		require.ErrorIs(t, err, payments.ErrTokenRefused)
		require.ErrorIs(t, err, refused)
		require.ErrorContains(t, err, "poller: stopped")
		var unhanded *poller.UnhandedError
		require.ErrorAs(t, err, &unhanded)
		assert.Equal(t, []payments.Payment{lost}, unhanded.Payments)
		assert.Equal(t, ids([]payments.Payment{waiting}), box.ids())
		assert.Zero(t, time.Since(began))
		assert.Len(t, src.times(), 3)
		assert.EqualValues(t, 1, p.Stats().Errors)
		require.Len(t, seen.of(poller.KindTokenRefused), 1)
		assert.Zero(t, seen.of(poller.KindTokenRefused)[0].Wait)
		assert.Empty(t, seen.of(poller.KindError))
	})
}

// TestTokenRefusedAmbiguously: a refused token after a lost response counts as ambiguous.
func TestTokenRefusedAmbiguously(t *testing.T) {
	t.Parallel()
	seen := &events{}
	p := newPoller(t, poller.Config{
		Client: newSource(t, answer{err: fmt.Errorf("%w %w", payments.ErrAmbiguous, payments.ErrTokenRefused)}),
		Sink:   newSink(t), OnEvent: seen.add, StopOnTokenRefused: true,
	})
	require.ErrorIs(t, p.Run(t.Context()), payments.ErrTokenRefused)
	assert.Len(t, seen.of(poller.KindAmbiguous), 1)
	assert.EqualValues(t, 1, p.Stats().Ambiguous)
}

// TestPaymentWithoutID: a payment without an id goes to the Sink like any other.
func TestPaymentWithoutID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := newPayment(), newPayment()
		a.ID, b.ID = uuid.Nil, uuid.Nil
		b.Identifier = "order-2"
		src, box := newSource(t, answer{p: a}, answer{p: b}), newSink(t)
		box.failing(a, 1)
		mustRun(t, newPoller(t, poller.Config{Client: src, Sink: box}), time.Minute)
		assert.ElementsMatch(t, []payments.Payment{a, b}, box.taken)
	})
}

func TestSinkFunc(t *testing.T) {
	t.Parallel()
	want := newPayment()
	f := poller.SinkFunc(func(_ context.Context, p payments.Payment) error {
		assert.Equal(t, want, p)
		return errTest
	})
	require.ErrorIs(t, f.Accept(t.Context(), want), errTest)
}
