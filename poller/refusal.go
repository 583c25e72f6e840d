package poller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/payments"
)

// remindEvery is how often the log repeats at error level that the token is refused.
const remindEvery = time.Hour

// refusal is the time in which the service refuses the token, or Config.TokenSource gives
// none, over all Runs until one of them is stopped; the zero value is none.
type refusal struct {
	since  time.Time
	logged time.Time // at error level
}

// level is the level of the log record of one refused poll: one page at the change, then
// a reminder once an hour.
func (f *refusal) level() slog.Level {
	if !f.logged.IsZero() && time.Since(f.logged) < remindEvery {
		return slog.LevelDebug
	}
	f.logged = time.Now()
	return slog.LevelError
}

// judgeToken takes note of what the end of a poll says about the token. An error that the
// service did not answer with says nothing.
func (r *run) judgeToken(ctx context.Context, err error) {
	refused := !r.refusal.since.IsZero()
	switch {
	case refused && accepted(err):
		r.refusedSince(time.Time{})
		r.emit(ctx, Event{Kind: KindTokenAccepted})
		*r.refusal = refusal{}
	case !refused && !accepted(err) && api.TokenFails(err):
		r.refusal.since = time.Now()
		r.refusedSince(r.refusal.since)
	}
}

// stopped forgets a refusal: nobody asks any more whether it goes on.
func (r *run) stopped() {
	*r.refusal = refusal{}
	r.refusedSince(time.Time{})
}

func (r *run) refusedSince(at time.Time) {
	r.counters.update(func(s *Stats) { s.TokenRefusedSince = at })
}

// accepted reports whether a poll that ended with err was let in.
func accepted(err error) bool {
	return err == nil || errors.Is(err, payments.ErrNoProcessedPayment) || errors.Is(err, payments.ErrNotComplete)
}
