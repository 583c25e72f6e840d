package mockserver

import (
	"context"
	"net/http"
	"time"
)

const (
	errTimeout    = "no answer within 10s"
	errSuperseded = "cut off by a manual resend"
	errClosed     = "cut off: the mock server was closed"
)

// newWebhookTransport dials again for every attempt: a connection left over from
// before could die under the request, and the attempt would fail for a reason
// that the receiver has nothing to do with.
func newWebhookTransport() http.RoundTripper {
	return &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		MaxConnsPerHost:    256, // spares file descriptors when thousands go out at once
	}
}

// beginRun starts the first of up to 10 attempts at once.
func (s *Server) beginRun(d *delivery) {
	d.url, d.status, d.run = d.payment.app.WebhookURL, DeliveryPending, 0
	s.launch(d, s.clock.now())
	s.arm()
}

// launch sends one attempt in a goroutine of its own, so that no receiver can
// hold up the API or another delivery.
func (s *Server) launch(d *delivery, due time.Time) *attempt {
	a := newAttempt(Attempt{
		PaymentID: d.payment.ID, WebhookID: d.id, RetryCount: d.run, URL: d.url, Due: due, Started: s.clock.now(),
	})
	d.run++
	d.flight = a
	d.keep(a)
	s.fly(d, a)
	s.dispatch(d, a)
	return a
}

func newAttempt(a Attempt) *attempt {
	return &attempt{Attempt: a, cancel: func() {}, done: make(chan struct{}), sent: time.Now()}
}

// fly begins the time that the receiver has.
func (s *Server) fly(d *delivery, a *attempt) {
	s.flying[a] = struct{}{}
	a.timeout = s.events.push(a.Started.Add(s.clock.atLeast(webhookTimeout, s.cfg.Patience)), d, a)
}

// transmit posts an attempt and waits for its end in a goroutine.
func (s *Server) transmit(d *delivery, a *attempt) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	by := s.cfg.WebhookTransport
	if a.Fault == faultDeadURI {
		a.URL, by = deadURI, newWebhookTransport()
	}
	sending := a.Attempt
	s.running.Go(func() {
		end := s.send(ctx, by, sending)
		if sending.Fault == faultDropAfter {
			end = outcome{failure: errAnswerLost}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.finish(d, a, end)
	})
}

// finish records the outcome of an attempt, unless the clock or a resend ended
// it before, and plans what follows from it.
func (s *Server) finish(d *delivery, a *attempt, end outcome) {
	if !a.Ended.IsZero() {
		return
	}
	a.Ended, a.HTTPStatus, a.Err = s.clock.now(), end.status, end.failure
	s.responses.keep(a, end.response)
	a.cancel()
	s.events.remove(a.timeout)
	a.cancel, a.timeout = func() {}, spent // there may be 100,000 of both
	delete(s.flying, a)
	s.record(d.payment, EventWebhook, a.describe())
	defer close(a.done)
	s.overtaken(a)
	if d.flight != a {
		return
	}
	d.flight = nil
	switch {
	case d.status != DeliveryPending || s.closed: // a resend has settled it meanwhile
	case end.failure == "":
		d.status = DeliveryDelivered
	case d.run == len(waits):
		d.status = DeliveryFailed
	default:
		d.next = s.events.push(a.Ended.Add(waits[d.run]), d, nil)
	}
	s.arm()
}

// run lets an event happen. It returns the attempt that was sent, if one was.
func (s *Server) run(e *event) *attempt {
	s.events.remove(e)
	d := e.delivery
	if d == nil {
		s.expire()
		return nil
	}
	if e.attempt != nil && e != e.attempt.timeout {
		return s.arrive(d, e.attempt)
	}
	if e.attempt != nil {
		s.finish(d, e.attempt, outcome{failure: errTimeout})
		return nil
	}
	d.next = nil
	if d.payment.Status == StatusComplete {
		// Verified meanwhile, by a poll or by a receiver that confirmed and then
		// failed: there is nothing left to tell (the rule of §6.5).
		d.status = DeliveryDelivered
		s.record(d.payment, EventWebhook, "not sent any more: the payment is COMPLETE")
		return nil
	}
	return s.launch(d, e.at)
}

// arm sets the one timer of the real clock to the earliest event. A stopped
// clock has none: only Advance and JumpToNextAttempt let events happen.
func (s *Server) arm() {
	if s.clock.stopped || s.closed {
		return
	}
	e := s.events.first()
	switch {
	case e == nil && s.timer != nil:
		s.timer.Stop()
	case e == nil:
	case s.timer == nil:
		s.timer = time.AfterFunc(s.clock.until(e.at), s.tick)
	default:
		s.timer.Reset(s.clock.until(e.at))
	}
}

func (s *Server) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.events.first(); !s.closed && e != nil && !e.at.After(s.clock.now()); e = s.events.first() {
		s.run(e)
	}
	s.arm()
}
