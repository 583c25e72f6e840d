package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/internal/backoff"
)

// ErrRunning is the error of a Run while another Run of the same Inbox has not returned.
var ErrRunning = errors.New("inbox: Run is running already")

// Run runs handlers, confirms hints and reconciles until ctx ends. Then it starts nothing new, lets
// running handlers finish or time out, records their results, and returns nil. Failures of the database
// are logged and retried. No goroutine outlives Run. Acceptances do not need it.
func (b *Inbox) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer b.running.Store(false)
	var loops sync.WaitGroup
	loops.Go(func() { b.dispatcher.handleLoop(ctx) })
	loops.Go(func() { b.loop(ctx, "confirm", time.Second, b.confirmer.confirmDue) })
	loops.Go(func() { b.reconciler.reconcileLoop(ctx) })
	loops.Go(func() { b.loop(ctx, "outage", tick, b.intake.outageStep) })
	loops.Go(func() { b.loop(ctx, "poll journal", beatEvery, b.polls.beatStep) })
	loops.Go(func() { b.loop(ctx, "retention", time.Hour, b.retention.dropBodies) })
	loops.Go(func() { b.loop(ctx, "clock", clockEvery, (&clockWatch{b: b.core}).look) })
	loops.Wait()
	return nil
}

const (
	tick       = time.Second // how often the database is asked without a wake
	maxBackoff = 15 * time.Second
)

// loop calls step about every interval, at once while step has more to do, and with backoff while step
// fails.
func (b *core) loop(ctx context.Context, name string, interval time.Duration, step func(context.Context) (more bool, err error)) {
	failures := 0
	for ctx.Err() == nil {
		more, err := step(ctx)
		wait := backoff.Between(interval*3/4, interval*5/4, backoff.Jitter())
		switch {
		case err != nil:
			b.failed(ctx, name, err)
			wait = backoff.Delay(failures, tick/4, maxBackoff, backoff.Jitter())
			failures++
		case more:
			failures, wait = 0, 0
		default:
			failures = 0
		}
		if wait > 0 {
			pause(ctx, wait, nil)
		}
	}
}

// failed logs what went wrong, unless it is the stop itself.
func (b *core) failed(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: inbox: "+name+" failed and is tried again", slog.Any("error", err))
}

// pause waits until the time is over, wake has a value, or ctx ends.
func pause(ctx context.Context, wait time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// dispatcher claims payments that are due and hands them to the handler.
type dispatcher struct{ *core }

// handleLoop folds, claims and runs handlers, Concurrency at once.
func (b *dispatcher) handleLoop(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(handlerSlots, b.cfg.Concurrency)
	failures := 0
	for ctx.Err() == nil {
		n, err := b.dispatch(ctx, slots, &running)
		switch {
		case err != nil:
			b.failed(ctx, "hand-over", err)
			pause(ctx, backoff.Delay(failures, tick/4, maxBackoff, backoff.Jitter()), nil)
			failures++
		case n == 0:
			failures = 0
			pause(ctx, backoff.Between(tick*3/4, tick*5/4, backoff.Jitter()), b.wakes)
		default:
			failures = 0
		}
	}
}

// dispatch waits for a free slot, fills the free slots with claims, and returns how many payments it
// started.
func (b *dispatcher) dispatch(ctx context.Context, slots handlerSlots, running *sync.WaitGroup) (int, error) {
	free := slots.take(ctx)
	if free == 0 {
		return 0, nil
	}
	folded, err := b.store.fold(ctx)
	if err != nil {
		slots.giveBack(free)
		return 0, err
	}
	claims, err := b.claim(ctx, free)
	slots.giveBack(free - len(claims))
	for i := range claims {
		running.Go(func() {
			defer func() {
				slots.giveBack(1)
				b.wake()
			}()
			b.runClaim(ctx, &claims[i])
		})
	}
	if folded && len(claims) == 0 {
		return 1, err // there may be more to fold
	}
	return len(claims), err
}

// handlerSlots bounds how many handlers run at once.
type handlerSlots chan struct{}

// slotMisused is called when a slot is returned that nobody holds. Tests make it panic. In production
// the slot is ignored: one handler too many is better than no dispatch at all.
var slotMisused = func() {}

// take waits for a free slot, takes the other free ones too, and returns how many it took: 0 if ctx
// ended.
func (s handlerSlots) take(ctx context.Context) (n int) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n = 1; n < cap(s); n++ {
		select {
		case s <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// giveBack frees n slots. It never waits: the slots are taken.
func (s handlerSlots) giveBack(n int) {
	if n < 0 {
		slotMisused()
	}
	for range n {
		select {
		case <-s:
		default:
			slotMisused()
		}
	}
}

// failpoint is a step between two things that must be durable one after the other. There
// tests kill the process, fail it or hold it up; see failpoint_unix_test.go, which does each
// of that at each of these, and fails for one that it cannot reach.
type failpoint int

const (
	stepAccepted failpoint = iota // what arrived is durable, and its caller does not know
	stepClaimed                   // a payment is claimed, and its handler not begun
	stepFenced                    // the fence is in the handler's transaction, and the handler not begun
	stepHandled                   // the handler has succeeded, and nothing is committed
	stepDone                      // the handler's transaction is committed, and this process does not know
	stepFolded                    // SQLite: the ledger has what was accepted, and this process does not know
	failpoints                    // how many there are
)

// hook is called at the steps, by tests alone: no Config of another package can set it.
type hook func(failpoint) error

// after is err, or if there is none what the hook says.
func (h hook) after(here failpoint, err error) error {
	if h == nil || err != nil {
		return err
	}
	return h(here)
}
