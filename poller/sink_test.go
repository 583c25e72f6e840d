package poller_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// TestSinkFailsThenTakes: a payment is offered with backoff until it is taken, once, while
// polling continues and others are handed over.
func TestSinkFailsThenTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(3)
		src, box, seen := newSource(t, found(list...)...), newSink(t), &events{}
		box.failing(list[1], 9)
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add})
		mustRun(t, p, 10*time.Minute)
		assert.Equal(t, ids([]payments.Payment{list[0], list[2], list[1]}), box.ids())
		calls := box.callsFor(list[1])
		require.Len(t, calls, 10)
		for i, high := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			bound, gap := time.Duration(high)*time.Second, calls[i+1].Sub(calls[i])
			assert.GreaterOrEqual(t, gap, bound/2, "wait %d", i)
			assert.LessOrEqual(t, gap, bound, "wait %d", i)
		}
		for _, gap := range src.gaps()[3:] {
			assert.LessOrEqual(t, gap, 5*time.Second, "polling was held up")
		}
		failed := seen.of(poller.KindSinkFailed)
		require.Len(t, failed, 9)
		for i, e := range failed {
			require.ErrorIs(t, e.Err, errTest)
			assert.Equal(t, i+1, e.Attempt)
			assert.Equal(t, list[1], e.Payment)
			assert.Equal(t, calls[i+1].Sub(calls[i]), e.Wait)
			assert.Equal(t, 1, e.Pending)
		}
		s := p.Stats()
		assert.EqualValues(t, 3, s.Received)
		assert.EqualValues(t, 3, s.HandedOver)
		assert.EqualValues(t, 9, s.SinkErrors)
		assert.Zero(t, s.Pending)
	})
}

func TestSinkPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(1)
		box, seen := newSink(t), &events{}
		broken := true
		p := newPoller(t, poller.Config{Client: newSource(t, found(list...)...), OnEvent: seen.add, Sink: poller.SinkFunc(
			func(ctx context.Context, p payments.Payment) error {
				if broken {
					broken = false
					panic(errTest)
				}
				return box.Accept(ctx, p)
			})})
		mustRun(t, p, time.Minute)
		require.Len(t, seen.of(poller.KindSinkFailed), 1)
		require.ErrorIs(t, seen.of(poller.KindSinkFailed)[0].Err, errTest)
		require.ErrorContains(t, seen.of(poller.KindSinkFailed)[0].Err, "Sink.Accept panicked")
		assert.Equal(t, ids(list), box.ids())
	})
}

// TestPendingFull: nothing is polled with MaxPending payments pending, and polling continues at
// once when there is room.
func TestPendingFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(6)
		src, box, seen := newSource(t, found(list...)...), newSink(t), &events{}
		healthy := time.Now().Add(5 * time.Minute)
		box.during = func(context.Context, payments.Payment) error {
			if time.Now().Before(healthy) {
				return errTest
			}
			return nil
		}
		var polledWhileFull bool
		p := newPoller(t, poller.Config{Client: src, Sink: box, MaxPending: 3, OnEvent: seen.add})
		src.during = func() { polledWhileFull = polledWhileFull || p.Stats().Pending >= 3 }
		mustRun(t, p, 10*time.Minute)
		assert.False(t, polledWhileFull)
		gaps := src.gaps()
		assert.Equal(t, []time.Duration{0, 0}, gaps[:2])
		assert.Greater(t, gaps[2], 5*time.Minute)
		assert.LessOrEqual(t, gaps[2], 6*time.Minute)
		assert.Equal(t, []time.Duration{0, 0, 0}, gaps[3:6], "the backlog was not drained at once")
		assert.ElementsMatch(t, ids(list), box.ids())
		require.NotEmpty(t, seen.of(poller.KindPendingFull))
		assert.Equal(t, 3, seen.of(poller.KindPendingFull)[0].Pending)
		assert.Len(t, seen.of(poller.KindPendingFull), 1, "one event, not one each turn")
		assert.Len(t, seen.of(poller.KindResumed), 1)
	})
}

// TestAcceptTimeout: a Sink that hangs is canceled and called again.
func TestAcceptTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(1)
		box, seen := newSink(t), &events{}
		hang := true
		box.during = func(ctx context.Context, _ payments.Payment) error {
			if hang {
				hang = false
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		p := newPoller(t, poller.Config{Client: newSource(t, found(list...)...), Sink: box, OnEvent: seen.add})
		mustRun(t, p, time.Minute)
		calls := box.callsFor(list[0])
		require.Len(t, calls, 2)
		assert.InDelta(t, 30.75, calls[1].Sub(calls[0]).Seconds(), 0.26)
		require.ErrorIs(t, seen.of(poller.KindSinkFailed)[0].Err, context.DeadlineExceeded)
		assert.Equal(t, ids(list), box.ids())
	})
}

// TestHookPanicsAndStats: a hook may call Stats and may panic.
func TestHookPanicsAndStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := newPayments(2)
		box := newSink(t)
		var p *poller.Poller
		var kinds []poller.Kind
		p = newPoller(t, poller.Config{Client: newSource(t, found(list...)...), Sink: box, OnEvent: func(e poller.Event) {
			assert.Equal(t, e.Pending, p.Stats().Pending)
			kinds = append(kinds, e.Kind)
			panic("hook")
		}})
		mustRun(t, p, time.Minute)
		assert.Equal(t, slices.Repeat([]poller.Kind{poller.KindReceived, poller.KindHandedOver}, 2), kinds)
		assert.Equal(t, ids(list), box.ids())
	})
}
