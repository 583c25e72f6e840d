package poller

import (
	"context"
	"slices"
	"time"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

const retryMin = time.Second

// pending is a payment that the Poller holds.
type pending struct {
	payment  payments.Payment
	attempts int
	due      time.Time // of the next attempt
	err      error     // of the last attempt
}

// received offers a payment to the Sink before anything else happens. It is pending first,
// so that nothing can lose it.
func (r *run) received(ctx context.Context, payment payments.Payment) {
	p := &pending{payment: payment}
	r.pending = append(r.pending, p)
	r.counters.update(func(s *Stats) { s.Received++; s.Pending++; s.LastReceived = time.Now() })
	r.emit(ctx, Event{Kind: KindReceived, Payment: payment})
	r.offer(ctx, p, len(r.pending))
}

// offerDue offers the payments whose backoff is over again, oldest first.
func (r *run) offerDue(ctx context.Context) {
	now := time.Now()
	for _, p := range slices.Clone(r.pending) {
		if ended(ctx) {
			return // lastAttempts offers the others
		}
		if !p.due.After(now) {
			r.offer(ctx, p, len(r.pending))
		}
	}
}

// offer calls the Sink once. sharers is how many payments, p included, share the time for
// stopping.
func (r *run) offer(ctx context.Context, p *pending, sharers int) {
	accept, done := r.handOverContext(ctx, sharers)
	p.attempts++
	p.err = safecall.Do("poller: Sink.Accept", func() error { return r.sink.Accept(accept, p.payment) })
	done()
	if p.err == nil {
		r.pending = slices.DeleteFunc(r.pending, func(other *pending) bool { return other == p })
		r.counters.update(func(s *Stats) { s.HandedOver++; s.Pending--; s.LastHandedOver = time.Now() })
		r.emit(ctx, Event{Kind: KindHandedOver, Payment: p.payment, Attempt: p.attempts})
		return
	}
	r.counters.update(func(s *Stats) { s.SinkErrors++ })
	e := Event{Kind: KindSinkFailed, Payment: p.payment, Err: p.err, Attempt: p.attempts}
	if !ended(ctx) && r.deadline.IsZero() {
		e.Wait = backoff.Delay(p.attempts-1, retryMin, r.cfg.BackoffMax, backoff.Jitter())
		p.due = time.Now().Add(e.Wait)
	}
	r.emit(ctx, e)
}

// handOverContext is not canceled with ctx, so that a hand-over is finished. It ends after
// AcceptTimeout, or when its even share of the time for stopping is over, which starts when
// ctx ends. done releases it.
func (r *run) handOverContext(ctx context.Context, sharers int) (accept context.Context, done func()) {
	limit := r.cfg.AcceptTimeout
	if !r.deadline.IsZero() { // also if ctx has not ended: StopOnTokenRefused
		limit = min(limit, r.remaining()/time.Duration(sharers))
	}
	accept, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // Run's goroutine is in the Sink then
		defer close(ended)
		timer := time.NewTimer(r.remaining() / time.Duration(sharers))
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-accept.Done():
		}
	})
	return accept, func() {
		cancel()
		if !stop() {
			<-ended // it uses r and must not outlive Run
		}
	}
}

// remaining is the time left for stopping. The first call sets the deadline.
func (r *run) remaining() time.Duration {
	if r.deadline.IsZero() {
		r.deadline = time.Now().Add(r.cfg.ShutdownTimeout)
	}
	return time.Until(r.deadline)
}

// lastAttempts offers everything once more and returns an *UnhandedError for what is
// left, or nil. Each gets an even share of the time, so that one payment that hangs does
// not cost the others their attempt.
func (r *run) lastAttempts(ctx context.Context) error {
	list := slices.Clone(r.pending)
	for i, p := range list {
		if r.remaining() <= 0 {
			break
		}
		r.offer(ctx, p, len(list)-i)
	}
	if len(r.pending) == 0 {
		return nil
	}
	unhanded := &UnhandedError{}
	for _, p := range r.pending {
		unhanded.Payments = append(unhanded.Payments, p.payment)
		unhanded.Err = p.err
	}
	r.pending = nil
	r.counters.update(func(s *Stats) { s.Pending = 0; s.Unhanded += int64(len(unhanded.Payments)) })
	for _, payment := range unhanded.Payments {
		r.emit(ctx, Event{Kind: KindUnhanded, Payment: payment, Err: unhanded.Err})
	}
	return unhanded
}
