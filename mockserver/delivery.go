package mockserver

import (
	"context"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
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
	// report the same event.
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
	// PaymentID and WebhookID name the delivery that it belongs to.
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
	// Response is the body of the receiver's response, for people: nothing depends on
	// it. At most its first 4 KiB are kept, as much as came within a second, and
	// tokens are replaced by "[REDACTED]". The server keeps the last 10,000 that are
	// not empty, of all deliveries together.
	Response string
	// Err says why the attempt failed, without tokens; empty after success and in flight.
	Err string
	// Fault is the kind of the [Fault] that has struck it, empty without one. A
	// webhook that a fault has doubled is here twice.
	Fault string
}

// waits are the waits before each of the 10 attempts, each counted from the
// failure of the attempt before (interface §6.4).
var waits = [...]time.Duration{
	0,
	5 * time.Second,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour,
	20 * time.Hour,
	24 * time.Hour,
}

const (
	// webhookTimeout is how long a receiver may take to answer (interface §6.5).
	webhookTimeout = 10 * time.Second
	// maxAttemptsKept bounds what endless resends can store for one payment.
	maxAttemptsKept = 100
	// maxResponses is how many response bodies are kept, each at most maxLogged long.
	maxResponses = 10_000
)

// delivery is the stored form, guarded by Server.mu.
type delivery struct {
	id       string
	payment  *payment
	url      string
	status   DeliveryStatus
	attempts []*attempt
	begun    int             // attempts of this run so far
	current  *attempt        // the attempt of this run that is in flight
	next     *schedule.Timer // the automatic attempt that waits for its time
}

type attempt struct {
	Attempt
	delivery *delivery
	cancel   context.CancelFunc
	timeout  *schedule.Timer // nil before the attempt has started
	// overtakes is another attempt that is held back until this one has ended.
	overtakes *schedule.Timer
	done      chan struct{} // closed when Ended is set
	sent      time.Time     // in real time, to measure Config.Patience
	stalled   bool          // nobody waits for it any more
}

func newAttempt(d *delivery, a Attempt) *attempt {
	return &attempt{Attempt: a, delivery: d, cancel: func() {}, done: make(chan struct{}), sent: time.Now()}
}

// clone is a second arrival of the same attempt, made by the network. Its outcome changes
// nothing for the delivery.
func (a *attempt) clone() *attempt {
	out := newAttempt(a.delivery, a.Attempt)
	out.Ended, out.HTTPStatus, out.Err, out.Response = time.Time{}, 0, "", ""
	return out
}

func (d *delivery) export() Delivery {
	out := Delivery{PaymentID: d.payment.ID, WebhookID: d.id, URL: d.url, Status: d.status}
	for _, a := range d.attempts {
		out.Attempts = append(out.Attempts, a.Attempt)
	}
	if d.next != nil {
		out.NextDue = d.next.At
	}
	return out
}

func (d *delivery) keep(a *attempt) {
	if len(d.attempts) == maxAttemptsKept {
		copy(d.attempts, d.attempts[1:])
		d.attempts = d.attempts[:maxAttemptsKept-1]
	}
	d.attempts = append(d.attempts, a)
}

// describe is the entry of the timeline when an attempt has ended.
func (a *attempt) describe() string {
	switch {
	case a.Err != "":
		return fmt.Sprintf("attempt %d of %d: %s", a.RetryCount+1, len(waits), a.Err)
	case a.RetryCount == 0: // nearly all of them: one text for 100,000
		return "attempt 1 of 10: answered HTTP 200"
	}
	return fmt.Sprintf("attempt %d of %d: answered HTTP 200", a.RetryCount+1, len(waits))
}

// responses are the attempts that have a Response, the last maxResponses of them.
type responses struct {
	ring []*attempt
	next int
}

// keep stores the response to an attempt, and drops the oldest one at the cap.
func (r *responses) keep(a *attempt, response string) {
	switch {
	case response == "":
		return
	case len(r.ring) < maxResponses:
		r.ring = append(r.ring, a)
	default:
		r.ring[r.next].Response = ""
		r.ring[r.next] = a
		r.next = (r.next + 1) % maxResponses
	}
	a.Response = response
}
