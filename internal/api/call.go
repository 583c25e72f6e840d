package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

// Caller performs operations and decodes their responses. It is safe for concurrent use.
type Caller struct {
	Transport *transport.Client
	// TokenCodes are the service's error codes for a rejected token, in upper case.
	TokenCodes []string
	// EmptyCodes are the codes that mean "no payment is waiting", with any HTTP status.
	EmptyCodes []string
}

// Reply is a complete response that is not an error.
type Reply struct {
	wire.Answer
	Outcome transport.Outcome
}

// Do performs op. isResult is passed to wire.Read. The Reply is valid only if the Failure is
// nil; it is then Empty or has an Object. An empty body without a marked end does not count
// as an empty response: a cut connection looks the same.
func (c *Caller) Do(ctx context.Context, op *transport.Op, query string, body []byte, isResult func(string) bool) (Reply, *Failure) {
	return c.call(ctx, op, query, body, func(body []byte) (wire.Answer, error) {
		return wire.Read(body, isResult)
	})
}

// DoList is Do for an operation that returns a list.
func (c *Caller) DoList(ctx context.Context, op *transport.Op, query string) (Reply, *Failure) {
	return c.call(ctx, op, query, nil, wire.ReadList)
}

// call performs op with the current token. If the service rejects it and there is a
// different token by then, op is performed once more, unless a response may be lost and op
// must not be repeated.
func (c *Caller) call(ctx context.Context, op *transport.Op, query string, body []byte, read reader) (Reply, *Failure) {
	token, err := c.token(ctx, op)
	if err != nil {
		return Reply{}, c.noToken(ctx, op, err)
	}
	o := c.Transport.Do(ctx, op, token, query, body)
	reply, failure := c.read(op, o, read)
	if failure == nil || !failure.TokenRefused || !failure.SafeToRetry() || token == nil {
		return reply, failure
	}
	other, err := c.token(ctx, op)
	if err != nil || other.Same(token) {
		return reply, failure
	}
	return c.read(op, c.Transport.Do(ctx, op, other, query, body).After(o), read)
}

// token returns the token of a call, or the caller's error if ctx has ended.
func (c *Caller) token(ctx context.Context, op *transport.Op) (*transport.Token, error) {
	if ctx.Err() != nil {
		return nil, c.Transport.Redactor().Cause(ctx.Err())
	}
	return c.Transport.Token(ctx, op)
}

// noToken returns the Failure of a call without a token.
func (c *Caller) noToken(ctx context.Context, op *transport.Op, err error) *Failure {
	f := &Failure{Op: op, Cause: err, Unsent: true}
	if ctx.Err() == nil { // or else the caller has left
		f.NoToken, f.Detail = true, ErrTokenSource.Error()
	}
	return f
}

// reader decodes the body of a response.
type reader func([]byte) (wire.Answer, error)

func (c *Caller) read(op *transport.Op, o transport.Outcome, reader reader) (Reply, *Failure) {
	if o.Kind == transport.Answered && o.Status >= 200 && o.Status < 300 {
		a, err := reader(o.Body)
		switch {
		case err != nil:
			return Reply{}, c.Undecodable(op, o, err.Error())
		case c.deniesAPayment(a):
			return Reply{}, c.Undecodable(op, o, besideOne)
		case a.Failed:
			return Reply{}, c.refusal(op, o, a)
		case a.Empty && !o.Whole && len(wire.Trim(o.Body)) == 0:
			return Reply{}, c.Undecodable(op, o, "the connection ended where a body was due")
		}
		return Reply{Answer: a, Outcome: o}, nil
	}
	return Reply{}, c.failure(op, o, reader)
}

// failure decodes an outcome whose status is not a success.
func (c *Caller) failure(op *transport.Op, o transport.Outcome, reader reader) *Failure {
	a, err := reader(o.Body)
	once := op.Class == transport.Once || op.Class == transport.Destructive
	if once && c.deniesAPayment(a) {
		return c.Undecodable(op, o, besideOne)
	}
	if once && (a.Result || errors.Is(err, wire.ErrContradiction)) {
		// A result under a status that says otherwise: it may be all there is of a payment.
		return c.Undecodable(op, o, fmt.Sprintf("it holds a result, with HTTP status %d", o.Status))
	}
	f := c.refusal(op, o, a)
	if o.Cause != nil { // a typed nil must not get into the interface
		f.Cause = o.Cause
	}
	f.RetryAfter = o.RetryAfter
	f.Unsent = o.Kind == transport.Unsent
	if !a.Failed || f.Ambiguous {
		f.Raw = c.raw(o.Body)
	}
	if !a.Failed {
		f.Detail = c.excerpt(o, err)
	}
	return f
}

const besideOne = "it says that no payment waits, next to something that may be one"

// deniesAPayment reports whether a says that no payment is waiting, next to an unexplained
// object that may be a payment's record. The HTTP status is irrelevant.
func (c *Caller) deniesAPayment(a wire.Answer) bool {
	return a.Failed && a.Unread && c.IsEmptyCode(a.Code)
}

// refusal returns the service's own error as a Failure.
func (c *Caller) refusal(op *transport.Op, o transport.Outcome, a wire.Answer) *Failure {
	r := c.Transport.Redactor()
	f := &Failure{
		Op: op, Code: r.String(a.Code), Message: r.String(a.Message),
		HTTPStatus: o.Status, Attempts: o.Attempts,
	}
	// A 403 without the service's error shape is somebody else's: a firewall, a proxy.
	f.TokenRefused = o.Status == http.StatusUnauthorized || o.Status == http.StatusForbidden && a.Failed ||
		slices.Contains(c.TokenCodes, strings.ToUpper(a.Code))
	// A refused token says nothing of an attempt before, whose answer is lost.
	unknown := o.Kind == transport.Unknown || o.Lost && f.TokenRefused
	emptyCode := a.Failed && c.IsEmptyCode(a.Code)
	f.Ambiguous = unknown && op.Class != transport.ReadOnly && !emptyCode
	return f
}

// Undecodable returns the Failure for a complete response that cannot be decoded; why is the
// reason.
func (c *Caller) Undecodable(op *transport.Op, o transport.Outcome, why string) *Failure {
	return &Failure{
		Op: op, HTTPStatus: o.Status, Attempts: o.Attempts, Raw: c.raw(o.Body),
		Undecodable: true,
		Ambiguous:   op.Class == transport.Once || op.Class == transport.Destructive,
		Detail:      c.Transport.Redactor().String("the answer cannot be read: " + why),
	}
}

// IsEmptyCode reports whether code means that no payment is waiting.
func (c *Caller) IsEmptyCode(code string) bool {
	return slices.Contains(c.EmptyCodes, strings.ToUpper(code))
}

// raw copies the received body without the token; nil if nothing arrived.
func (c *Caller) raw(body []byte) []byte {
	if len(body) == 0 {
		return nil
	}
	return slices.Clone(c.Transport.Redactor().Bytes(body))
}

// excerpt describes a body that does not have the service's error shape.
func (c *Caller) excerpt(o transport.Outcome, err error) string {
	switch {
	case o.Status >= 300 && o.Status < 400:
		return "redirects are not followed, they would carry the token away; correct BaseURL"
	case o.Status == 0 || len(o.Body) == 0:
		return ""
	case errors.Is(err, wire.ErrNotJSON):
		return fmt.Sprintf("body begins %q", printable(c.Transport.Redactor().String(string(o.Body))))
	}
	return ""
}
