package poller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/payments"
)

// remindEvery is how often a refused token is logged at error level.
const remindEvery = time.Hour

// refusal is the time during which the service refuses the token, or
// payments.Config.TokenSource fails. It spans Runs, until one of them is stopped. The zero
// value is none.
type refusal struct {
	since  time.Time
	logged time.Time // at error level
}

// level is the log level of a refused poll: an error at the start, then once an hour.
func (f *refusal) level() slog.Level {
	if !f.logged.IsZero() && time.Since(f.logged) < remindEvery {
		return slog.LevelDebug
	}
	f.logged = time.Now()
	return slog.LevelError
}

// judgeToken updates the refusal after a poll. An error that did not come from the service
// says nothing about the token.
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

// stopped ends a refusal: no poll will show whether it goes on.
func (r *run) stopped() {
	*r.refusal = refusal{}
	r.refusedSince(time.Time{})
}

func (r *run) refusedSince(at time.Time) {
	r.counters.update(func(s *Stats) { s.TokenRefusedSince = at })
}

// accepted reports whether the service accepted the token of a poll that ended with err.
func accepted(err error) bool {
	return err == nil || errors.Is(err, payments.ErrNoProcessedPayment) || errors.Is(err, payments.ErrNotComplete)
}
