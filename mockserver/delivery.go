package mockserver

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// DeliveryStatus is the status of a webhook delivery (interface §2.4).
type DeliveryStatus string

// The delivery states. The interface names delivered and failed.
const (
	// DeliveryPending: an attempt is in flight, or waits for its time.
	DeliveryPending DeliveryStatus = "pending"
	// DeliveryDelivered: the receiver answered 200, or the payment was COMPLETE
	// before the next attempt or a resend, which then sends nothing (§6.5).
	DeliveryDelivered DeliveryStatus = "delivered"
	// DeliveryFailed: all 10 attempts failed; only a resend tries again (§6.4).
	DeliveryFailed DeliveryStatus = "failed"
)

// Delivery is the webhook delivery of one payment, a copy taken at the call.
type Delivery struct {
	// PaymentID is the payment_id in the body.
	PaymentID string
	// WebhookID is the X-Webhook-ID of every attempt, resends included: they
	// tell of the same event.
	WebhookID string
	// URL is where the last run of attempts sends to.
	URL string
	// Status is pending, delivered or failed.
	Status DeliveryStatus
	// Attempts are the attempts of all runs, oldest first, at most the last 100.
	Attempts []Attempt
	// NextDue is when the next automatic attempt is due; zero when none is.
	NextDue time.Time
}

// Attempt is one sending of a webhook.
type Attempt struct {
	// PaymentID and WebhookID tell which delivery it belongs to.
	PaymentID, WebhookID string
	// RetryCount is the X-Retry-Count that was sent: 0 to 9 in each run.
	RetryCount int
	// URL is where it was sent to.
	URL string
	// Due is when the schedule wanted it, Started when it was sent and Ended
	// when its outcome was known; Ended is zero while it is in flight.
	Due, Started, Ended time.Time
	// HTTPStatus is what the receiver answered; 0 without an answer.
	HTTPStatus int
	// Response is the body of the receiver's answer, for people: nothing depends on
	// it. At most its first 4 KiB are kept, as far as they came within a second, and
	// tokens are replaced by "[REDACTED]". The server keeps the last 10,000 that are
	// not empty, of all deliveries together.
	Response string
	// Err says why the attempt failed, without tokens; empty after success and in flight.
	Err string
	// Fault is the kind of the [Fault] that has struck it, empty without one. A
	// webhook that a fault has doubled stands here twice.
	Fault string
}

// maxAttemptsKept bounds what endless resends can store for one payment.
const maxAttemptsKept = 100

// delivery is the stored form, guarded by Server.mu.
type delivery struct {
	id       string
	payment  *payment
	url      string
	status   DeliveryStatus
	attempts []*attempt
	run      int      // attempts begun in this run
	flight   *attempt // the attempt of this run that is in flight
	next     *event   // the automatic attempt that waits
}

type attempt struct {
	Attempt
	cancel  context.CancelFunc
	timeout *event // nil before it flies
	// overtakes is another attempt that is held back until this one has ended.
	overtakes *event
	done      chan struct{} // closed when Ended is set
	sent      time.Time     // in real time, to measure Config.Patience
	hanging   bool
}

// Deliveries returns a copy of every webhook delivery, in the order of creation.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Delivery, len(s.deliveries))
	for i, d := range s.deliveries {
		list[i] = d.export()
	}
	return list
}

func (d *delivery) export() Delivery {
	out := Delivery{PaymentID: d.payment.ID, WebhookID: d.id, URL: d.url, Status: d.status}
	for _, a := range d.attempts {
		out.Attempts = append(out.Attempts, a.Attempt)
	}
	if d.next != nil {
		out.NextDue = d.next.at
	}
	return out
}

// newDelivery stores a delivery for a payment, with nothing sent yet. The caller
// has asked roomForDelivery.
func (s *Server) newDelivery(p *payment) *delivery {
	d := &delivery{id: uuid.NewString(), payment: p}
	p.delivery = d
	s.deliveries = append(s.deliveries, d)
	return d
}

// roomForDelivery forgets the oldest settled delivery when the cap is reached. It
// is false when every one is still pending.
func (s *Server) roomForDelivery() bool {
	if len(s.deliveries) < s.cfg.MaxDeliveries {
		return true
	}
	for i, d := range s.deliveries {
		if d.status != DeliveryPending {
			d.payment.delivery = nil
			s.deliveries = append(s.deliveries[:i], s.deliveries[i+1:]...)
			return true
		}
	}
	return false
}

func (d *delivery) keep(a *attempt) {
	if len(d.attempts) == maxAttemptsKept {
		copy(d.attempts, d.attempts[1:])
		d.attempts = d.attempts[:maxAttemptsKept-1]
	}
	d.attempts = append(d.attempts, a)
}

// describe tells for the timeline how an attempt ended.
func (a *attempt) describe() string {
	switch {
	case a.Err != "":
		return fmt.Sprintf("attempt %d of %d: %s", a.RetryCount+1, len(waits), a.Err)
	case a.RetryCount == 0: // nearly all of them: one text for 100,000
		return "attempt 1 of 10: answered HTTP 200"
	}
	return fmt.Sprintf("attempt %d of %d: answered HTTP 200", a.RetryCount+1, len(waits))
}

// DeliverNow sends the webhook attempt that waits for its time at once, without
// moving the clock and without waiting for its end, for which Advance(0) does. The
// next one waits as long as ever after this one has failed. For a payment that is
// COMPLETE the delivery is marked delivered and nothing is sent (interface §6.5).
// The error is an [*Error]: [CodePaymentNotFound], [CodeNoAttemptWaiting] or
// [CodeServerClosed].
func (s *Server) DeliverNow(payToken string) error {
	if problem := s.deliverNow(payToken); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) deliverNow(payToken string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.anyPayment(payToken)
	switch {
	case s.closed:
		return serverClosed()
	case problem != nil:
		return problem
	case p.delivery == nil || p.delivery.next == nil:
		return &Error{Code: CodeNoAttemptWaiting, Message: "no webhook attempt of this payment waits for its time: none was begun, " +
			"one is in flight, or they are over; a resend begins ten new ones"}
	}
	s.run(p.delivery.next)
	s.arm()
	return nil
}
