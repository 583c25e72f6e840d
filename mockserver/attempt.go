package mockserver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

const (
	// webhookUserAgent identifies the sender (interface §6.2).
	webhookUserAgent = "DepositPay-Payments-Webhook/1.0"
	// maxFailure is how many bytes of a transport's error are kept.
	maxFailure = 300
	// responseTime is how long, in real time, the body of a response may take. Its
	// status has come, and only that counts: nobody waits for the rest.
	responseTime = time.Second
	// deadURI is a loopback port where nobody listens: it is reserved, and no system
	// hands it out.
	deadURI = "http://127.0.0.1:1/"
	// defaultHold is how long a webhook waits for another one to overtake it.
	defaultHold = 5 * time.Second
	// errAnswerLost is what the service sees when a fault has lost the response.
	errAnswerLost = "connection reset by peer (a fault rule lost the receiver's answer)"
)

// dispatch sends an attempt, or applies the fault that strikes it.
func (x *sender) dispatch(a *attempt) {
	a.overtakes, x.held = x.held, nil
	f := x.faults.decide(opWebhook)
	if f == nil {
		x.transmit(a)
		return
	}
	a.Fault = f.Kind
	switch f.Kind {
	case faultDelay:
		x.hold(a, f.Delay)
	case faultReorder:
		if a.overtakes != nil {
			x.transmit(a) // two that are to change places have done so
			return
		}
		x.held = x.hold(a, cmp.Or(f.Delay, defaultHold))
	case faultDuplicate:
		x.transmit(a)
		if second := a.clone(); f.Delay == 0 {
			x.transmitClone(second)
		} else {
			x.plan(second, f.Delay)
		}
	default: // dead-uri and drop-after, which transmit applies
		x.transmit(a)
	}
}

// hold keeps an attempt back, as a slow network would: the service believes it is on its
// way. Nobody waits for it, because only the clock or another attempt releases it.
func (x *sender) hold(a *attempt, wait time.Duration) *schedule.Timer {
	a.stalled = true
	return x.plan(a, wait)
}

func (x *sender) plan(a *attempt, wait time.Duration) *schedule.Timer {
	var timer *schedule.Timer
	timer = x.timers.Push(x.clock.after(wait), func() {
		delete(x.planned, timer)
		x.fired = x.deliverHeld(a)
	})
	x.planned[timer] = a
	return timer
}

// releaseHeld sends the attempt that waited for this one to end, unless its time came
// before.
func (x *sender) releaseHeld(a *attempt) {
	if a.overtakes.Planned() && !x.timers.closed {
		x.timers.fire(a.overtakes)
	}
}

// deliverHeld sends an attempt that was held back. If the service has given it up
// meanwhile, it still arrives, and nobody gets the response.
func (x *sender) deliverHeld(a *attempt) *attempt {
	if a.timeout == nil || !a.Ended.IsZero() {
		if a.timeout != nil {
			a = a.clone()
		}
		x.transmitClone(a)
		return a
	}
	a.stalled, a.sent = false, time.Now()
	x.transmit(a)
	return a
}

func (x *sender) transmitClone(a *attempt) {
	a.Started, a.sent = x.clock.now(), time.Now()
	a.delivery.keep(a)
	x.start(a)
	x.transmit(a)
}

// transmit posts an attempt and waits for its end in a goroutine.
func (x *sender) transmit(a *attempt) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	by := x.cfg.WebhookTransport
	if a.Fault == faultDeadURI {
		a.URL, by = deadURI, newWebhookTransport()
	}
	sending := a.Attempt
	x.running.Go(func() {
		end := x.post(ctx, by, sending)
		if sending.Fault == faultDropAfter {
			end = outcome{failure: errAnswerLost}
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.finish(a, end)
	})
}

// newWebhookTransport dials again for every attempt: a connection left over from
// before could break during the request, and the attempt would fail for a reason
// that is not the receiver's.
func newWebhookTransport() http.RoundTripper {
	return &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		MaxConnsPerHost:    256, // spares file descriptors when thousands go out at once
	}
}

// outcome is how an attempt ended. Without a failure it has succeeded.
type outcome struct {
	status            int // 0: no response
	failure, response string
}

// post sends the webhook and returns how it ended. It takes no lock.
func (x *sender) post(ctx context.Context, by http.RoundTripper, a Attempt) outcome {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	body := strings.NewReader(`{"payment_id":"` + a.PaymentID + `"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, body)
	if err != nil {
		return outcome{failure: "the webhook URI is unusable"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", webhookUserAgent)
	req.Header.Set("X-Webhook-ID", a.WebhookID)
	req.Header.Set("X-Retry-Count", strconv.Itoa(a.RetryCount))
	// The transport itself, not an http.Client: a redirect is an answer other than 200,
	// and is not followed.
	resp, err := by.RoundTrip(req)
	if err != nil {
		return outcome{failure: x.tokens.First(err.Error(), maxFailure)}
	}
	defer func() { _ = resp.Body.Close() }()
	end := outcome{status: resp.StatusCode, response: x.readResponse(resp.Body, stop)}
	if end.status != http.StatusOK {
		end.failure = fmt.Sprintf("answered HTTP %d, only 200 counts", end.status)
	}
	return end
}

// readResponse reads the body of a response, without tokens. stop ends the request.
func (x *sender) readResponse(body io.Reader, stop context.CancelFunc) string {
	// Within Config.Patience, or a receiver that has answered would count as stalled.
	timer := time.AfterFunc(min(responseTime, x.cfg.Patience/2), stop)
	defer timer.Stop()
	raw, _ := io.ReadAll(io.LimitReader(body, 2*maxLogged)) // a part of it is better than nothing
	return x.tokens.First(string(raw), maxLogged)
}
