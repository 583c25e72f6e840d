package inboxtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

var errHandler = errors.New("out of swords")

func anybody(c *inbox.Config) { c.AcceptUnknown = true }

// failing is a handler that writes its effect and then ends as outcome says, by the
// number of the run from 1.
type failing struct {
	mu      sync.Mutex
	runs    int
	outcome func(run int) error
}

func (f *failing) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if err := grant(ctx, tx, p); err != nil {
		return err
	}
	f.mu.Lock()
	f.runs++
	run := f.runs
	f.mu.Unlock()
	return f.outcome(run)
}

// handing accepts a payment and runs a handler that ends as outcome says.
func (s *shop) handing(outcome func(run int) error) (*failing, payments.Payment) {
	s.t.Helper()
	f, p := &failing{outcome: outcome}, paid("order-1", 1)
	s.setHandler(f.handle)
	s.run()
	s.accept(p)
	return f, p
}

func (f *failing) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs
}

// testHandlerRollsBack: the effects of a run that fails are not there.
func testHandlerRollsBack(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 3 })
	f, p := s.handing(func(int) error { return errHandler })
	e := s.await(p.ID.String(), inbox.StageDead)
	require.Equal(t, errHandler.Error(), e.Reason)
	require.Equal(t, 3, e.Tries)
	require.Equal(t, 3, f.count())
	require.Zero(t, s.effects(""))
}

func testHandlerFails(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	f, p := s.handing(func(run int) error {
		if run < 4 {
			return errHandler
		}
		return nil
	})
	s.requireGrantedOnce(p.ID.String())
	require.Equal(t, 4, f.count())
}

// testHandlerPanics: a panic concerns its own payment only.
func testHandlerPanics(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 2 })
	bad, good := paid("bad", 1), paid("good", 1)
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		if p.ID == bad.ID {
			panic("no such item")
		}
		return grant(ctx, tx, p)
	})
	s.run()
	s.accept(bad)
	s.accept(good)
	s.requireGrantedOnce(good.ID.String())
	require.Contains(t, s.await(bad.ID.String(), inbox.StageDead).Reason, "no such item")
}

func testHandlerGivesUp(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 2 })
	f, p := s.handing(func(int) error { return errHandler })
	s.await(p.ID.String(), inbox.StageDead)
	s.accept(p) // again, by whatever channel: dead stays dead
	require.NoError(t, s.box.Poller().Accept(t.Context(), p))
	require.ErrorIs(t, s.box.Approve(t.Context(), p.ID.String(), decision), inbox.ErrStage)
	again := &failing{outcome: func(run int) error {
		if run < 2 {
			return errHandler
		}
		return nil
	}}
	s.setHandler(again.handle)
	require.NoError(t, s.box.Retry(t.Context(), p.ID.String(), decision))
	s.requireGrantedOnce(p.ID.String())
	require.Equal(t, 2, f.count())
	require.Equal(t, 2, again.count(), "a retry has all attempts again")
}

func testCancel(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	f, p := s.handing(func(int) error { return fmt.Errorf("order-1: %w", inbox.Cancel(errHandler)) })
	e := s.await(p.ID.String(), inbox.StageDead)
	require.Equal(t, errHandler.Error(), e.Reason)
	require.Equal(t, int64(1), e.Attempt, "the claim raises the fence")
	require.Equal(t, 1, f.count())
	require.Zero(t, s.effects(""))
	require.ErrorIs(t, inbox.Cancel(errHandler), errHandler)
}

func testSnooze(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 2 })
	f, p := s.handing(func(run int) error {
		if run < 5 {
			return inbox.Snooze(time.Millisecond)
		}
		return nil
	})
	s.requireGrantedOnce(p.ID.String())
	require.Equal(t, 5, f.count(), "a snooze is no attempt")

	s.setHandler((&failing{outcome: func(int) error { return inbox.Snooze(time.Hour) }}).handle)
	p = paid("order-2", 1)
	s.accept(p)
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), p.ID.String())
		return err == nil && e.Reason == "snoozed" && time.Until(e.RunAt) > 50*time.Minute
	}, timeLimit, tickTime)
}

func testHandlerTimesOut(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) {
		c.AcceptUnknown, c.MaxAttempts, c.HandlerTimeout = true, 1, 50*time.Millisecond
	})
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		if err := grant(ctx, tx, p); err != nil {
			return err
		}
		<-ctx.Done()
		return nil // and says that all is well
	})
	s.run()
	p := paid("order-1", 1)
	s.accept(p)
	s.await(p.ID.String(), inbox.StageDead)
	require.Zero(t, s.effects(""), "what was too late is rolled back")
}

// testCrashingPayment: attempts count when they begin. A payment that kills the process
// each time is parked after MaxAttempts, not run for ever.
func testCrashingPayment(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 3 })
	stop := s.run()
	p := paid("order-1", 1)
	counted := make(chan int, 1)
	s.setHandler(func(ctx context.Context, _ *sql.Tx, p payments.Payment) error {
		e, err := s.box.Get(ctx, p.ID.String())
		counted <- e.Tries
		return errors.Join(err, inbox.Snooze(time.Hour))
	})
	s.accept(p)
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), p.ID.String())
		return err == nil && e.Reason == "snoozed"
	}, timeLimit, tickTime)
	stop()
	require.Equal(t, 1, <-counted, "the try is on record while it runs")
	// As three crashes leave it: claimed thrice, nothing recorded, the lease over.
	s.exec(`UPDATE depositpay_payments SET tries = 3, run_at = 0, leased = 0`)
	s.setHandler(grant)
	s.run()
	require.Contains(t, s.await(p.ID.String(), inbox.StageDead).Reason, "started 3 times without an end")
	require.Zero(t, s.effects(""))
}

// testSerializeByIdentifier: payments of one identifier are granted one after the other, in the order
// of arrival, even if the first one fails at first, and also those that came before
// order mattered.
func testSerializeByIdentifier(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown = true })
	var mu sync.Mutex
	var order []string
	failures := map[string]int{}
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		mu.Lock()
		defer mu.Unlock()
		if failures[p.ID.String()]++; failures[p.ID.String()] < 3 {
			return errHandler
		}
		order = append(order, p.ID.String())
		return grant(ctx, tx, p)
	})
	var want []string
	for i := range 8 {
		if i == 4 {
			s.cfg.SerializeByIdentifier = true
			s.reopen()
		}
		p := paid("player-1", 1)
		want = append(want, p.ID.String())
		s.accept(p)
	}
	s.run()
	for _, id := range want {
		s.requireGrantedOnce(id)
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, want, order)
}

func testManual(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	good, bad := paid("nobody's", 1), paid("nobody's", 1)
	for _, p := range []payments.Payment{good, bad} {
		s.accept(p)
		s.await(p.ID.String(), inbox.StageReview)
	}
	key := good.ID.String()
	require.ErrorContains(t, s.box.Approve(t.Context(), key, inbox.Decision{Actor: "kim"}), "a decision needs an actor and a reason")
	require.ErrorIs(t, s.box.Retry(t.Context(), key, decision), inbox.ErrStage)
	require.NoError(t, s.box.Approve(t.Context(), key, decision))
	s.requireGrantedOnce(key)
	require.ErrorIs(t, s.box.Approve(t.Context(), key, decision), inbox.ErrStage)
	require.ErrorIs(t, s.box.Reject(t.Context(), key, decision), inbox.ErrStage)
	require.ErrorIs(t, s.box.Approve(t.Context(), "no-such-key", decision), inbox.ErrStage)
	audit, err := s.box.Audit(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, audit, 1)
	require.Equal(t, "approve", audit[0].Action)
	require.Equal(t, decision, audit[0].Decision)

	key = bad.ID.String()
	require.NoError(t, s.box.Reject(t.Context(), key, decision))
	dead := s.await(key, inbox.StageDead)
	require.Equal(t, "rejected: unknown_order", dead.Reason)
	require.True(t, dead.Rejected)
	// Run again by hand, it is checked again.
	require.NoError(t, s.box.Retry(t.Context(), key, decision))
	s.await(key, inbox.StageReview)
	require.Zero(t, s.effects(key))
}

// testRejected: Rejected is set by the last decision of a person, whatever a handler says.
func testRejected(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.MaxAttempts = 1 })
	s.setHandler(func(context.Context, *sql.Tx, payments.Payment) error { return errors.New("rejected: by the game") })
	s.run()
	p := paid("nobody's", 1)
	key := p.ID.String()
	s.accept(p)
	require.False(t, s.await(key, inbox.StageReview).Rejected)
	require.NoError(t, s.box.Approve(t.Context(), key, decision))
	dead := s.await(key, inbox.StageDead)
	require.True(t, strings.HasPrefix(dead.Reason, "rejected: by the game"), dead.Reason)
	require.False(t, dead.Rejected, "a handler gave up")

	require.NoError(t, s.box.Retry(t.Context(), key, decision))
	other := paid("nobody's", 1)
	s.accept(other)
	s.await(other.ID.String(), inbox.StageReview)
	require.NoError(t, s.box.Reject(t.Context(), other.ID.String(), decision))
	s.await(key, inbox.StageDead)
	rejected := map[string]bool{}
	for e, err := range s.box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{inbox.StageDead}}) {
		require.NoError(t, err)
		rejected[e.Key] = e.Rejected
	}
	require.Equal(t, map[string]bool{key: false, other.ID.String(): true}, rejected)
}

// testShutdown: Run returns once what is in flight has ended, and its result is there.
func testShutdown(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, anybody)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.setHandler(func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		close(entered)
		<-leave
		return grant(ctx, tx, p)
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.box.Run(ctx) }()
	p := paid("order-1", 1)
	s.accept(p)
	<-entered
	require.ErrorIs(t, s.box.Run(t.Context()), inbox.ErrRunning)
	cancel()
	later := paid("order-2", 1)
	s.accept(later) // intake does not need Run
	select {
	case err := <-done:
		t.Fatal("Run returned while a handler was running", err)
	default:
	}
	close(leave)
	require.NoError(t, <-done)
	require.Equal(t, 1, s.effects(p.ID.String()), "its result is recorded when Run returns")
	e := s.entry(later.ID.String())
	require.Equal(t, inbox.StageReady, e.Stage, "nothing new is begun")
	s.setHandler(grant)
	s.reopen()
	s.run()
	s.requireGrantedOnce(later.ID.String())
}
