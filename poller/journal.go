package poller

import (
	"context"
	"log/slog"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// Journal is a durable Sink that wants to know of a poll before it happens. If
// Config.Sink is one, the Poller uses it as such; *inbox.Inbox is one. Its methods are
// called from Run's goroutine, one after the other.
type Journal interface {
	Sink

	// BeforePoll is called before every poll. An error says that the Journal cannot take
	// what the poll would return: nothing is polled, and it is asked again after a
	// backoff. The poll's context is the one that is returned.
	BeforePoll(ctx context.Context) (context.Context, error)

	// AcceptPolled is called in place of Accept, under the same contract.
	AcceptPolled(ctx context.Context, p payments.Payment) error

	// PollLost is called for every poll that may have lost a payment (KindAmbiguous), or
	// returned one that is not COMPLETE (KindUnverified), with the poll's error. The Journal
	// looks for the payment from then on, and calls a person if the loss stays open: the
	// Poller logs KindAmbiguous as a warning. An error of PollLost is logged as an error.
	PollLost(ctx context.Context, err error) error

	// AfterPolls is called once before Run returns, when no poll is under way, unless
	// there are payments that the Sink has not taken: then the Journal is to look for
	// them as after a crash. Its error is logged.
	AfterPolls(ctx context.Context) error
}

// accept hands a payment over to whichever kind of Sink there is.
func (r *run) accept(ctx context.Context, p payments.Payment) error {
	if r.journal != nil {
		return safecall.Do("poller: Sink.AcceptPolled", func() error { return r.journal.AcceptPolled(ctx, p) })
	}
	return safecall.Do("poller: Sink.Accept", func() error { return r.cfg.Sink.Accept(ctx, p) })
}

// mayPoll asks the Journal. If it says no, the next poll is put off.
func (r *run) mayPoll(ctx context.Context) (context.Context, bool) {
	if r.journal == nil {
		return ctx, true
	}
	poll := ctx
	err := safecall.Do("poller: Sink.BeforePoll", func() (err error) {
		poll, err = r.journal.BeforePoll(ctx)
		return err
	})
	if err == nil {
		r.down = 0
		return poll, true
	}
	if ended(ctx) {
		return ctx, false
	}
	wait := backoff.Delay(r.down, min(retryMin, r.cfg.BackoffMax), r.cfg.BackoffMax, backoff.Jitter())
	r.down++
	r.schedule(wait)
	r.counters.update(func(s *Stats) { s.SinkErrors++ })
	r.emit(ctx, Event{Kind: KindSinkDown, Err: err, Wait: wait})
	return ctx, false
}

// lost tells the Journal of a possible loss.
func (r *run) lost(ctx context.Context, cause error) {
	if r.journal == nil {
		return
	}
	accept, done := r.handOverContext(ctx, 1)
	defer done()
	err := safecall.Do("poller: Sink.PollLost", func() error { return r.journal.PollLost(accept, cause) })
	r.logJournal(ctx, "a possible loss was not written down", err)
}

// closeJournal says that no more polls come.
func (r *run) closeJournal(ctx context.Context) {
	if r.journal == nil {
		return
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.AcceptTimeout)
	defer cancel()
	err := safecall.Do("poller: Sink.AfterPolls", func() error { return r.journal.AfterPolls(closing) })
	r.logJournal(ctx, "the poll journal was not closed, and will look like a crash", err)
}

func (r *run) logJournal(ctx context.Context, message string, err error) {
	if err != nil {
		r.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: "+message, safecall.Attrs(err)...)
	}
}
