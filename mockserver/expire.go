package mockserver

import "time"

// expire moves the payments that nobody paid in time to EXPIRED. Whatever looks at
// the status of a payment calls it first, so that a status is right to the
// nanosecond. All payments live equally long and stand in the order of creation, so
// those that are due stand in front: the work is one look, and one step for each
// payment in all. The caller holds s.mu.
func (s *Server) expire() {
	if s.cfg.Lifetime == 0 {
		return
	}
	now := s.clock.now()
	for ; s.expiring < len(s.order); s.expiring++ {
		p := s.order[s.expiring]
		if !p.unpaid() {
			continue
		}
		at := p.CreatedAt.Add(s.cfg.Lifetime)
		if now.Before(at) {
			break
		}
		p.Status = StatusExpired
		s.recordAt(at, p, EventExpired, "nobody paid in time")
	}
	s.planExpiry()
}

// planExpiry puts the next expiry among the events, one for all payments: so a
// clock that is moved stops there, and pages hear of it.
func (s *Server) planExpiry() {
	if s.cfg.Lifetime == 0 {
		return
	}
	var at time.Time
	if s.expiring < len(s.order) {
		at = s.order[s.expiring].CreatedAt.Add(s.cfg.Lifetime)
	}
	planned := s.expiry != nil && s.expiry.index >= 0
	if planned && s.expiry.at.Equal(at) {
		return
	}
	s.events.remove(s.expiry)
	if !at.IsZero() {
		s.expiry = s.events.push(at, nil, nil)
	}
	s.arm()
}

// onlyExpiryToCome reports whether no webhook attempt, and no timeout of one, is
// among the events.
func (s *Server) onlyExpiryToCome() bool {
	e := s.events.first()
	return e == nil || e == s.expiry && len(s.events.heap) == 1
}

// notAwaited says why a payment takes no deposit and no payer any more.
func notAwaited(p *payment) *Error {
	if p.Status == StatusExpired {
		return &Error{Code: CodePaymentExpired, Message: "nobody paid this payment in time, so it has expired; " +
			"create another payment (Config.LateDeposit would take a late deposit)"}
	}
	return &Error{Code: CodePaymentAlreadyPaid, Message: "a deposit for this payment was recognised before; " +
		"create another payment"}
}
