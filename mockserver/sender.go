package mockserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver/internal/redact"
	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

const (
	errTimeout    = "no answer within 10s"
	errSuperseded = "cut off by a manual resend"
	errClosed     = "cut off: the mock server was closed"
)

// sender delivers the webhooks: up to ten attempts for each payment that is paid. It is
// guarded by Server.mu.
type sender struct {
	cfg     *Config
	clock   *clock
	timers  *timers
	faults  *faults
	tokens  *redact.Tokens
	book    *book
	mu      *sync.Mutex     // Server.mu, which an attempt's goroutine takes at its end
	running *sync.WaitGroup // the goroutines of attempts

	deliveries []*delivery // in the order of creation
	responses  responses
	inFlight   map[*attempt]struct{}
	planned    map[*schedule.Timer]*attempt // attempts that faults bring later
	held       *schedule.Timer              // one of them, which the next attempt is to overtake
	fired      *attempt                     // what the last timer has sent, nil if it sent nothing
}

// makeRoom forgets the oldest settled delivery when the cap is reached. It fails when
// every delivery is still pending.
func (x *sender) makeRoom() *Error {
	if len(x.deliveries) < x.cfg.MaxDeliveries {
		return nil
	}
	for i, d := range x.deliveries {
		if d.status != DeliveryPending {
			d.payment.delivery = nil
			x.deliveries = append(x.deliveries[:i], x.deliveries[i+1:]...)
			return nil
		}
	}
	return storageFull("the cap of pending webhook deliveries is reached; raise Config.MaxDeliveries or let the clock run")
}

// notify begins the delivery for a payment that was paid. The caller has made room.
func (x *sender) notify(p *payment) { x.beginRun(x.add(p)) }

// add stores a delivery for a payment, with nothing sent yet.
func (x *sender) add(p *payment) *delivery {
	d := &delivery{id: uuid.NewString(), payment: p}
	p.delivery = d
	x.deliveries = append(x.deliveries, d)
	return d
}

// beginRun sends the first of up to 10 attempts at once.
func (x *sender) beginRun(d *delivery) {
	d.url, d.status, d.begun = d.payment.app.WebhookURL, DeliveryPending, 0
	x.launch(d, x.clock.now())
	x.timers.arm()
}

// launch sends one attempt in a goroutine of its own: no receiver can hold up the API or
// another delivery.
func (x *sender) launch(d *delivery, due time.Time) *attempt {
	a := newAttempt(d, Attempt{
		PaymentID: d.payment.ID, WebhookID: d.id, RetryCount: d.begun, URL: d.url, Due: due, Started: x.clock.now(),
	})
	d.begun++
	d.current = a
	d.keep(a)
	x.start(a)
	x.dispatch(a)
	return a
}

// start begins the time that the receiver has.
func (x *sender) start(a *attempt) {
	x.inFlight[a] = struct{}{}
	a.timeout = x.timers.Push(a.Started.Add(x.clock.atLeast(webhookTimeout, x.cfg.Patience)), func() {
		x.finish(a, outcome{failure: errTimeout})
		x.fired = nil
	})
}

// finish records the outcome of an attempt, unless the clock or a resend has ended it
// before, and plans what follows.
func (x *sender) finish(a *attempt, end outcome) {
	if !a.Ended.IsZero() {
		return
	}
	d := a.delivery
	a.Ended, a.HTTPStatus, a.Err = x.clock.now(), end.status, end.failure
	x.responses.keep(a, end.response)
	a.cancel()
	x.timers.Remove(a.timeout)
	a.cancel, a.timeout = func() {}, schedule.Done // there may be 100,000 of both
	delete(x.inFlight, a)
	x.book.record(d.payment, EventWebhook, a.describe())
	defer close(a.done)
	x.releaseHeld(a)
	if d.current != a {
		return
	}
	d.current = nil
	switch {
	case d.status != DeliveryPending || x.timers.closed: // a resend has settled it meanwhile
	case end.failure == "":
		d.status = DeliveryDelivered
	case d.begun == len(waits):
		d.status = DeliveryFailed
	default:
		due := a.Ended.Add(waits[d.begun])
		d.next = x.timers.Push(due, func() { x.fired = x.retry(d, due) })
	}
	x.timers.arm()
}

// retry sends the next automatic attempt when its time has come. It sends nothing for a
// payment that a poll or a confirmation has completed meanwhile (the rule of §6.5).
func (x *sender) retry(d *delivery, due time.Time) *attempt {
	d.next = nil
	if d.payment.Status == StatusComplete {
		d.status = DeliveryDelivered
		x.book.record(d.payment, EventWebhook, "not sent any more: the payment is COMPLETE")
		return nil
	}
	return x.launch(d, due)
}

// waiting returns the deliveries whose next automatic attempt waits for its time, the
// soonest first, at most n.
func (x *sender) waiting(n int) []*delivery {
	var soonest []*delivery
	for _, d := range x.deliveries {
		if d.next == nil {
			continue
		}
		at, _ := slices.BinarySearchFunc(soonest, d.next, func(d *delivery, next *schedule.Timer) int {
			return schedule.Compare(d.next, next)
		})
		if at < n {
			soonest = slices.Insert(soonest, at, d)
			soonest = soonest[:min(n, len(soonest))]
		}
	}
	return soonest
}

// retryNow is [Server.DeliverNow].
func (x *sender) retryNow(p *payment) *Error {
	if p.delivery == nil || p.delivery.next == nil {
		return &Error{Code: CodeNoAttemptWaiting, Message: "no webhook attempt of this payment waits for its time: none was begun, " +
			"one is in flight, or they are over; a resend begins ten new ones"}
	}
	x.timers.fire(p.delivery.next)
	x.timers.arm()
	return nil
}

// resend sends a COMPLETE payment nothing and marks its delivery delivered
// (interface §6.5). For a payment in PROGRESS it drops what is left of the current
// run, an attempt in flight included, and begins a fresh run of 10 attempts
// under the same X-Webhook-ID. It makes a delivery where there is none: the URI may
// have been configured after the deposit.
func (x *sender) resend(p *payment) *Error {
	switch {
	case x.timers.closed:
		return serverClosed()
	case p.Status != StatusProgress && p.Status != StatusComplete:
		return notPaid(p, "resend its webhook after the deposit")
	case p.Status == StatusProgress && p.app.WebhookURL == "":
		return &Error{Code: CodeWebhookNotFound, Message: "the application has no webhook URI; " +
			"configure one with PUT /_mock/webhook"}
	}
	d := p.delivery
	if d == nil {
		if problem := x.makeRoom(); problem != nil {
			return problem
		}
		d = x.add(p)
	}
	x.book.record(p, EventResend, "a resend was asked for")
	x.timers.Remove(d.next)
	d.next = nil
	if p.Status == StatusComplete {
		d.status = DeliveryDelivered
		return nil
	}
	if old := d.current; old != nil {
		d.current = nil
		x.finish(old, outcome{failure: errSuperseded})
	}
	x.beginRun(d)
	return nil
}

// fire runs a timer and returns the attempt that it sent, nil if it sent nothing.
func (x *sender) fire(t *schedule.Timer) *attempt {
	x.fired = nil
	x.timers.fire(t)
	return x.fired
}

// settle waits until every attempt in flight has ended or stalls. It unlocks Server.mu
// while it waits.
func (x *sender) settle(ctx context.Context) {
	for a := x.unsettled(); a != nil && !x.timers.closed && ctx.Err() == nil; a = x.unsettled() {
		x.mu.Unlock()
		patience := time.NewTimer(x.cfg.Patience - time.Since(a.sent))
		select {
		case <-a.done:
		case <-patience.C:
		case <-ctx.Done():
		}
		patience.Stop()
		x.mu.Lock()
		a.stalled = ctx.Err() == nil
	}
}

func (x *sender) unsettled() *attempt {
	for a := range x.inFlight {
		if !a.stalled {
			return a
		}
	}
	return nil
}

// close ends all attempts in flight.
func (x *sender) close() {
	for a := range x.inFlight {
		x.finish(a, outcome{failure: errClosed})
	}
}
