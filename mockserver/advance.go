package mockserver

import (
	"context"
	"time"
)

// Advance moves the clock forward by d. Webhook attempts that fall due on the way
// are sent in the order of their due times, each at its due time, and what they
// lead to within d happens too: advancing over 76 hours runs the whole schedule
// of interface §6.4 in a moment. Attempts due at one instant run at once.
//
// The clock waits for an attempt in flight to end before it moves on. A receiver
// that takes longer than [Config.Patience] in real time is taken for hanging: the
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
	for e := s.nextEvent(ctx); e != nil && !e.at.After(target); e = s.nextEvent(ctx) {
		s.clock.moveTo(e.at)
		s.run(e)
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
		e := s.nextEvent(ctx)
		if e == nil || s.onlyExpiryToCome() {
			return Attempt{}, false
		}
		s.clock.moveTo(e.at)
		sent = s.run(e)
	}
	// Its timeout is among the events, so a receiver that hangs ends this too.
	for s.settle(ctx); sent.Ended.IsZero(); s.settle(ctx) {
		if s.closed || ctx.Err() != nil {
			return Attempt{}, false
		}
		e := s.events.first()
		s.clock.moveTo(e.at)
		s.run(e)
	}
	return sent.Attempt, true
}

// nextEvent is the earliest event. Unless that one is due already, it first lets
// the attempts in flight end, because their outcome decides what comes next.
func (s *Server) nextEvent(ctx context.Context) *event {
	e := s.events.first()
	if e == nil || e.at.After(s.clock.now()) {
		s.settle(ctx)
		e = s.events.first()
	}
	if s.closed || ctx.Err() != nil {
		return nil
	}
	return e
}

// settle waits until every attempt in flight has ended or hangs. It gives the
// lock away while it waits.
func (s *Server) settle(ctx context.Context) {
	for a := s.unsettled(); a != nil && !s.closed && ctx.Err() == nil; a = s.unsettled() {
		s.mu.Unlock()
		patience := time.NewTimer(s.cfg.Patience - time.Since(a.sent))
		select {
		case <-a.done:
		case <-patience.C:
		case <-ctx.Done():
		}
		patience.Stop()
		s.mu.Lock()
		a.hanging = ctx.Err() == nil
	}
}

func (s *Server) unsettled() *attempt {
	for a := range s.flying {
		if !a.hanging {
			return a
		}
	}
	return nil
}

// holdClock makes the caller the only one to move the clock and takes s.mu.
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
	s.arm()
	s.changed()
	s.mu.Unlock()
	<-s.moving
}
