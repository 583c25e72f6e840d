package mockserver

import (
	"context"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

// Advance moves the clock forward by d. Webhook attempts that fall due on the way
// are sent in the order of their due times, each at its due time, and what they
// lead to within d happens too: advancing over 76 hours runs the whole schedule
// of interface §6.4 in a moment. Attempts due at one instant run at once.
//
// The clock waits for an attempt in flight to end before it moves on. A receiver
// that takes longer than [Config.Patience] in real time counts as hanging: the
// clock then moves on without it, and its attempt ends with the receiver's answer
// or at its timeout, 10 s of the mock's time after it was sent, whichever comes
// first.
//
// The first attempt of a payment is sent by its deposit. Advance(0) moves nothing
// and waits until the attempts in flight have ended.
//
// A negative d counts as 0. A clock moves by at most 100 years in all.
func (s *Server) Advance(d time.Duration) { _ = s.advance(context.Background(), d) }

// JumpToNextAttempt moves the clock to the next automatic webhook attempt, sends
// it and returns it when it has ended. A hanging receiver is brought to its
// timeout first. When several are due at one instant, each call runs one of
// them, in the order in which they were scheduled. It is false when no attempt is
// to come: deliveries whose payment is COMPLETE by then are settled without one.
// Payments that expire on the way do so.
func (s *Server) JumpToNextAttempt() (Attempt, bool) {
	return s.jump(context.Background())
}

func (s *Server) advance(ctx context.Context, d time.Duration) error {
	if err := s.holdClock(ctx); err != nil {
		return err
	}
	defer s.releaseClock()
	target := s.clock.after(d)
	for t := s.nextTimer(ctx); t != nil && !t.At.After(target); t = s.nextTimer(ctx) {
		s.clock.moveTo(t.At)
		s.timers.fire(t)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.clock.moveTo(target)
	return nil
}

func (s *Server) jump(ctx context.Context) (Attempt, bool) {
	if s.holdClock(ctx) != nil {
		return Attempt{}, false
	}
	defer s.releaseClock()
	var sent *attempt
	for sent == nil {
		t := s.nextTimer(ctx)
		if t == nil || s.book.onlyExpiryPlanned() {
			return Attempt{}, false
		}
		s.clock.moveTo(t.At)
		sent = s.sender.fire(t)
	}
	// Its timeout is among the timers, so a receiver that hangs ends this loop too.
	for s.sender.settle(ctx); sent.Ended.IsZero(); s.sender.settle(ctx) {
		if s.timers.closed || ctx.Err() != nil {
			return Attempt{}, false
		}
		t := s.timers.First()
		s.clock.moveTo(t.At)
		s.timers.fire(t)
	}
	return sent.Attempt, true
}

// nextTimer is the earliest timer. Unless that one is due already, it first lets
// the attempts in flight end, because their outcome decides what comes next.
func (s *Server) nextTimer(ctx context.Context) *schedule.Timer {
	t := s.timers.First()
	if t == nil || t.At.After(s.clock.now()) {
		s.sender.settle(ctx)
		t = s.timers.First()
	}
	if s.timers.closed || ctx.Err() != nil {
		return nil
	}
	return t
}

// holdClock makes the caller the only one to move the clock and locks s.mu.
func (s *Server) holdClock(ctx context.Context) error {
	select {
	case s.moving <- struct{}{}:
		s.mu.Lock()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) releaseClock() {
	s.timers.arm()
	s.changes.note()
	s.mu.Unlock()
	<-s.moving
}
