package transport

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/depositpay/depositpay-go/internal/secret"
)

// States of the current attempt. They only move forward and are reset for each attempt.
const (
	notStarted int32 = iota // inner has not been asked yet
	dialing                 // no connection, nothing sent
	abandoned               // the caller left while dialing
	onWire                  // a connection, or a foreign transport, has it: whether the service acted is unknown
)

func (k *call) maybeSent() bool { return k.state.Load() == onWire }

// call is one operation with all its attempts. It is passed in the context.
type call struct {
	client *Client
	op     *Op
	token  *Token
	body   []byte
	hooks  httptrace.ClientTrace

	state    atomic.Int32
	attempts int
	again    bool   // the retry table has asked for another attempt
	lost     bool   // an attempt before this one may have had its effect
	status   int    // of the last complete answer, 0 if there was none
	answer   []byte // the body, or what arrived of it
	whole    bool   // the answer's end was marked by the peer, not by a closed connection
	verdict  verdict
	failure  *secret.Cause
	wait     time.Duration
	retryHdr string
}

// loop runs the attempts. A fresh retryablehttp.Client per call costs one small
// allocation and lets CheckRetry and Backoff know their call.
func (k *call) loop(r *http.Request) error {
	loop := &retryablehttp.Client{
		HTTPClient:   k.client.http,
		RetryMax:     k.client.cfg.MaxRetries,
		RetryWaitMin: k.client.cfg.RetryWaitMin,
		RetryWaitMax: k.client.cfg.RetryWaitMax,
		CheckRetry:   k.checkRetry,
		Backoff:      k.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := loop.Do(&retryablehttp.Request{Request: r})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // inner has read it all; a middleware may have wrapped it
	}
	return err
}

var errSentTwice = errors.New("transport: Config.Middleware sends a request again by itself; it must not, that could lose or double a payment")

// begin resets the call for the next attempt. Only the retry table may start another
// attempt: a retry by a middleware is rejected unless it is harmless, and it never makes a
// sent request look unsent.
func (k *call) begin(traced bool) error {
	if k.attempts > 0 && !k.again {
		if !k.op.Class.resendable() {
			return errSentTwice
		}
		k.lost = k.lost || k.maybeSent()
	}
	k.again = false
	k.attempts++
	k.status, k.answer, k.whole, k.failure, k.retryHdr = 0, nil, false, nil, ""
	if traced {
		k.state.Store(dialing)
	} else {
		k.state.Store(onWire)
	}
	return nil
}

// trace detects whether anything can have been sent: if GotConn never fired on an
// *http.Transport, not one byte of this request left. httptrace modifies the hooks that it
// is given, and an abandoned dial may still read them, so every attempt has its own; only
// those of the first attempt are part of the call.
func (k *call) trace() *httptrace.ClientTrace {
	hooks := &k.hooks
	if k.attempts > 1 {
		hooks = new(httptrace.ClientTrace)
	}
	hooks.GotConn = k.gotConn
	return hooks
}

// gotConn runs in the request's goroutine before anything is written. If the caller has
// already left, it closes the connection, so that nothing is sent. There is no other way:
// net/http does not check the context again before it writes, and it flushes the header
// before it reads the body.
func (k *call) gotConn(info httptrace.GotConnInfo) {
	if !k.state.CompareAndSwap(dialing, onWire) && k.state.Load() == abandoned {
		_ = info.Conn.Close()
	}
}

// context bounds one attempt. A Destructive operation is detached from the caller's
// cancellation as soon as it has a connection: aborting it then could cost a payment.
func (k *call) context(parent context.Context) (context.Context, context.CancelFunc) {
	if k.op.Class != Destructive {
		return context.WithTimeout(parent, k.client.cfg.Timeout)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), k.client.cfg.LongTimeout)
	if parent.Done() == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(parent, func() {
		if k.state.CompareAndSwap(dialing, abandoned) {
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}
