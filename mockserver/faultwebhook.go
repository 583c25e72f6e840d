package mockserver

import "time"

// deadURI is a loopback port where nobody listens: it is reserved, and no system
// hands it out.
const deadURI = "http://127.0.0.1:1/"

// defaultHold is how long a webhook waits for another one to overtake it.
const defaultHold = 5 * time.Second

// errAnswerLost is the service's view of a receiver whose answer a fault has lost.
const errAnswerLost = "connection reset by peer (a fault rule lost the receiver's answer)"

// dispatch lets an attempt set out, or lets a fault have it.
func (s *Server) dispatch(d *delivery, a *attempt) {
	a.overtakes, s.faults.held = s.faults.held, nil
	f := s.faults.decide(opWebhook)
	if f == nil {
		s.transmit(d, a)
		return
	}
	a.Fault = f.Kind
	switch f.Kind {
	case faultDelay:
		s.hold(d, a, f.Delay)
	case faultReorder:
		if a.overtakes != nil {
			s.transmit(d, a) // two that are to change places have done so
			return
		}
		wait := f.Delay
		if wait == 0 {
			wait = defaultHold
		}
		s.faults.held = s.hold(d, a, wait)
	case faultDuplicate:
		s.transmit(d, a)
		if copied := copyAttempt(a); f.Delay == 0 {
			s.transmitCopy(d, copied)
		} else {
			s.events.push(s.clock.after(f.Delay), d, copied)
		}
	default: // dead-uri and drop-after, which transmit knows of
		s.transmit(d, a)
	}
}

// hold keeps an attempt back, as a slow network would: for the service it is on its
// way. Nobody waits for it, since only the clock or another attempt brings it.
func (s *Server) hold(d *delivery, a *attempt, wait time.Duration) *event {
	a.hanging = true
	return s.events.push(s.clock.after(wait), d, a)
}

// overtaken lets go of the attempt that waited for this one to end, unless its time
// came before.
func (s *Server) overtaken(a *attempt) {
	if e := a.overtakes; e != nil && e.index >= 0 && !s.closed {
		s.run(e)
	}
}

// arrive is the event of an attempt that was held back. If the service has given it
// up meanwhile, it arrives all the same, and its answer reaches nobody.
func (s *Server) arrive(d *delivery, a *attempt) *attempt {
	if a.timeout == nil || !a.Ended.IsZero() {
		if a.timeout != nil {
			a = copyAttempt(a)
		}
		s.transmitCopy(d, a)
		return a
	}
	a.hanging, a.sent = false, time.Now()
	s.transmit(d, a)
	return a
}

// copyAttempt is an attempt that the network has made of another one. The delivery
// does not know of it: its outcome changes nothing.
func copyAttempt(a *attempt) *attempt {
	out := newAttempt(a.Attempt)
	out.Ended, out.HTTPStatus, out.Err, out.Response = time.Time{}, 0, "", ""
	return out
}

func (s *Server) transmitCopy(d *delivery, a *attempt) {
	a.Started, a.sent = s.clock.now(), time.Now()
	d.keep(a)
	s.fly(d, a)
	s.transmit(d, a)
}
