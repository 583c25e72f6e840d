package poller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// run is the state of one Run. Only its goroutine uses it.
type run struct {
	cfg      *Config
	counters *counters
	journal  Journal // Config.Sink, if it is one
	down     int     // times in a row that the Journal put a poll off

	next     time.Time // of the next poll; the zero time is long past
	failures int       // polls that failed in a row
	refusal  *refusal  // of the token, by this Run or one before
	full     bool      // KindPendingFull was said
	pending  []*pending
	deadline time.Time // of the hand-overs, once the stop has begun
}

// poll polls until ctx ends, then returns nil, or until the token is refused, if that is to
// end the run.
//
// One goroutine does everything in turn. So nothing is polled while a payment is on
// its way to the Sink, and no payment is with the Sink twice at a time.
func (r *run) poll(ctx context.Context) error {
	for {
		r.offerDue(ctx)
		if ended(ctx) {
			return nil
		}
		if r.hasRoom(ctx) && !time.Now().Before(r.next) {
			if err := r.pollOnce(ctx); err != nil {
				return err
			}
			continue
		}
		r.wait(ctx)
	}
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// hasRoom keeps the number of payments in hand bounded, and says when it begins and
// ceases to hold polling up.
func (r *run) hasRoom(ctx context.Context) bool {
	full := len(r.pending) >= r.cfg.MaxPending
	if full != r.full {
		r.full = full
		kind := KindResumed
		if full {
			kind = KindPendingFull
		}
		r.emit(ctx, Event{Kind: kind})
	}
	return !full
}

// wait sleeps until the next poll or the next offer to the Sink.
func (r *run) wait(ctx context.Context) {
	until := r.next
	if r.full {
		until = time.Time{}
	}
	for _, p := range r.pending {
		if until.IsZero() || p.due.Before(until) {
			until = p.due
		}
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pollOnce polls and deals with what comes of it. Its error ends the run.
func (r *run) pollOnce(ctx context.Context) error {
	if ended(ctx) { // by a hook, just now
		return nil
	}
	poll, ok := r.mayPoll(ctx)
	if !ok || ended(ctx) {
		return nil
	}
	r.counters.update(func(s *Stats) { s.Polls++; s.LastPoll = time.Now() })
	p, err := r.take(poll)
	r.judgeToken(ctx, err)
	switch {
	case err == nil:
		r.failures = 0
		r.received(ctx, p)
	case errors.Is(err, payments.ErrNoProcessedPayment):
		r.failures = 0
		r.counters.update(func(s *Stats) { s.Empty++ })
		r.schedule(backoff.Between(r.cfg.IntervalMin, r.cfg.IntervalMax, backoff.Jitter()))
	default:
		r.failed(ctx, p, err)
		if r.stopsFor(err) {
			return fmt.Errorf("poller: stopped: %w", err)
		}
	}
	return nil
}

func (r *run) stopsFor(err error) bool {
	return r.cfg.StopOnTokenRefused && errors.Is(err, payments.ErrTokenRefused)
}

// take calls the Source. Whatever its panic interrupted, it may have been an answer.
func (r *run) take(ctx context.Context) (p payments.Payment, err error) {
	err = safecall.Do("poller: Config.Client", func() (err error) {
		p, err = r.cfg.Client.Next(ctx)
		return err
	})
	if _, ok := errors.AsType[*safecall.PanicError](err); ok {
		err = fmt.Errorf("%w: %w", err, payments.ErrAmbiguous)
	}
	if err == nil && p.Status != payments.StatusComplete {
		err = fmt.Errorf("poller: Config.Client: %w", payments.ErrNotComplete)
	}
	return p, err
}

// failed counts and reports a poll that gave no payment for the Sink, and backs off.
func (r *run) failed(ctx context.Context, p payments.Payment, err error) {
	e := Event{Kind: KindError, Err: err}
	switch {
	case errors.Is(err, payments.ErrNotComplete):
		e.Kind, e.Payment = KindUnverified, p
		r.counters.update(func(s *Stats) { s.Unverified++ })
	case errors.Is(err, payments.ErrAmbiguous):
		e.Kind = KindAmbiguous
		r.counters.update(func(s *Stats) { s.Ambiguous++ })
	case ended(ctx) && errors.Is(err, ctx.Err()):
		return // the stop itself: nothing was taken
	case api.TokenFails(err):
		e.Kind = KindTokenRefused
		fallthrough
	default:
		r.counters.update(func(s *Stats) { s.Errors++ })
	}
	if !r.stopsFor(err) { // there is no next poll then
		e.Wait = r.backoff(err)
		r.schedule(e.Wait)
	}
	r.emit(ctx, e)
	if e.Kind == KindAmbiguous || e.Kind == KindUnverified {
		r.lost(ctx, err)
	}
}

// backoff starts above IntervalMin: a failing service is not polled faster than a
// healthy one. Without a token that works the wait is the longest at once, because another
// try hardly helps.
func (r *run) backoff(err error) time.Duration {
	if api.TokenFails(err) {
		return r.cfg.BackoffMax
	}
	wait := backoff.Delay(r.failures, min(2*r.cfg.IntervalMin, r.cfg.BackoffMax), r.cfg.BackoffMax, backoff.Jitter())
	r.failures++
	if e, ok := errors.AsType[*payments.Error](err); ok {
		wait = max(wait, min(e.RetryAfter, r.cfg.BackoffMax))
	}
	return wait
}

func (r *run) schedule(wait time.Duration) { r.next = time.Now().Add(wait) }
