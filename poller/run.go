package poller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// run is the state of one Run. Only its goroutine uses it.
type run struct {
	cfg      *Config
	sink     Sink
	journal  Journal
	counters *counters
	down     int // times in a row that BeforePoll failed

	next     time.Time // of the next poll; the zero time is long past
	failures int       // polls that failed in a row
	refusal  *refusal  // of the token, by this Run or one before
	full     bool      // KindPendingFull was emitted
	pending  []*pending
	deadline time.Time // of the hand-overs, once the stop has begun
}

// poll polls until ctx ends and returns nil, or until the token is refused, with
// Config.StopOnTokenRefused.
//
// One goroutine does everything in turn, so nothing is polled while a payment is on
// its way to the Sink, and the Sink never has one payment twice at a time.
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

// hasRoom reports whether another payment may be taken, and emits an event when that
// changes.
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

// pollOnce polls and processes the result. Its error ends the run.
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

// mayPoll asks the Journal for the context of a poll. If it cannot take a payment, the poll
// is put off.
func (r *run) mayPoll(ctx context.Context) (poll context.Context, ok bool) {
	err := safecall.Do("poller: Journal.BeforePoll", func() (err error) {
		poll, err = r.journal.BeforePoll(ctx)
		return err
	})
	if err == nil {
		r.down = 0
		return poll, true
	}
	if ended(ctx) {
		return nil, false
	}
	wait := backoff.Delay(r.down, min(retryMin, r.cfg.BackoffMax), r.cfg.BackoffMax, backoff.Jitter())
	r.down++
	r.schedule(wait)
	r.counters.update(func(s *Stats) { s.SinkErrors++ })
	r.emit(ctx, Event{Kind: KindSinkDown, Err: err, Wait: wait})
	return nil, false
}

// take calls the Source. A panic may have interrupted the reading of a response, so it is
// ambiguous.
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

// failed counts and reports a poll without a payment for the Sink, and backs off.
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
		return // Run is stopping, and nothing was taken
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
		r.pollLost(ctx, err)
	}
}

// backoff starts above IntervalMin: a failing service is not polled faster than a
// healthy one. Without a valid token the wait is the longest at once, because another
// attempt hardly helps.
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

// pollLost tells the Journal of a possible loss.
func (r *run) pollLost(ctx context.Context, cause error) {
	accept, done := r.handOverContext(ctx, 1)
	defer done()
	err := safecall.Do("poller: Journal.PollLost", func() error { return r.journal.PollLost(accept, cause) })
	r.logJournal(ctx, "a possible loss was not recorded", err)
}

// closeJournal tells the Journal that no more polls come.
func (r *run) closeJournal(ctx context.Context) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.AcceptTimeout)
	defer cancel()
	err := safecall.Do("poller: Journal.Close", func() error { return r.journal.Close(closing) })
	r.logJournal(ctx, "the poll journal was not closed, and will look like a crash", err)
}

func (r *run) logJournal(ctx context.Context, message string, err error) {
	if err != nil {
		r.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: "+message, safecall.Attrs(err)...)
	}
}
