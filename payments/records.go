package payments

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

var (
	opNext = &transport.Op{
		Name: "Next", Method: http.MethodGet, Path: "/callback/rest",
		Class: transport.Destructive, Token: transport.TokenInQuery,
		IfLost: "a payment may have been completed whose record did not arrive; confirm the ids you know of, and go on polling",
	}
	opConfirm = &transport.Op{
		Name: "Confirm", Method: http.MethodPost, Path: "/payments/confirm",
		Class: transport.Idempotent, Token: transport.TokenInBody,
		IfLost: "the payment may be complete now; confirm the same id again",
	}
)

// Next completes one payment in PROGRESS and returns it (GET /callback/rest, interface
// §4.2). If no payment is waiting, the error is ErrNoProcessedPayment.
//
// The call is a destructive read without an acknowledgement: store the payment before you
// call Next again. If the response may have been lost, the error is ErrAmbiguous: a payment
// may be complete at the service without having arrived. Error.Raw holds the part that did
// arrive. Next does not retry in that case, because the next response would hide the loss.
//
// ctx cancels the call only until a connection is established. After that, canceling could
// cost a payment: Next returns with the response or after Config.NextTimeout.
//
// A record whose status is not COMPLETE is returned together with ErrNotComplete. A record
// without a status counts as complete, because the call completes it (§4.2).
func (c *Client) Next(ctx context.Context) (Payment, error) {
	reply, failure := c.caller.Do(ctx, opNext, "", nil, isRecord)
	switch {
	case failure != nil && !failure.Ambiguous && c.caller.IsEmptyCode(failure.Code):
		return Payment{}, noPayment(failure)
	case failure != nil:
		return Payment{}, newError(failure, uuid.Nil)
	case reply.Empty:
		return Payment{}, noPayment(&api.Failure{
			Op: opNext, HTTPStatus: reply.Outcome.Status, Attempts: reply.Outcome.Attempts,
			Detail: "an empty answer: no payment is waiting",
		})
	}
	notKept := journal(ctx, reply.Outcome.Body)
	p, err := c.record(opNext, reply, uuid.Nil)
	if err != nil && notKept != nil {
		err = fmt.Errorf("%w (and it was not kept: %w)", err, notKept)
	}
	return p, err
}

// Decode decodes a raw response to Next that was stored (see WithJournal).
func (c *Client) Decode(raw []byte) (Payment, error) {
	a, err := wire.Read(raw, isRecord)
	switch {
	case err != nil:
		return Payment{}, newError(c.caller.Undecodable(opNext, transport.Outcome{Body: raw}, err.Error()), uuid.Nil)
	case a.Failed || a.Empty:
		return Payment{}, newError(c.caller.Undecodable(opNext, transport.Outcome{Body: raw}, "it holds no payment"), uuid.Nil)
	}
	return c.record(opNext, api.Reply{Answer: a, Outcome: transport.Outcome{Body: raw}}, uuid.Nil)
}

func noPayment(f *api.Failure) *Error {
	e := newError(f, uuid.Nil)
	e.is = ErrNoProcessedPayment
	return e
}

// Confirm verifies the payment payToken (the payment_id of a webhook) and returns its record
// (POST /payments/confirm, interface §4.3).
//
// err is nil only for this payment with status COMPLETE. Another status returns the record
// and ErrNotComplete; another id returns ErrWrongPayment. If the service rejects the
// payment, the error is an *Error with its Code; a rejection is never final, because the
// customer may pay later. It is safe to confirm the same id again at any time. Confirm
// itself retries after a lost response, within ctx's deadline; if the last response is lost
// as well, the error is ErrAmbiguous.
func (c *Client) Confirm(ctx context.Context, payToken uuid.UUID) (Payment, error) {
	if payToken == uuid.Nil {
		return Payment{}, &ValidationError{"Confirm", "payToken", "is the nil UUID; pass the payment_id of the webhook"}
	}
	reply, failure := c.caller.Do(ctx, opConfirm, "", payTokenJSON(payToken), isRecord)
	if failure != nil {
		return Payment{}, newError(failure, payToken)
	}
	if reply.Empty {
		return Payment{}, newError(c.caller.Undecodable(opConfirm, reply.Outcome, "it is empty"), payToken)
	}
	return c.record(opConfirm, reply, payToken)
}

// record decodes and checks a record. asked is uuid.Nil for Next.
func (c *Client) record(op *transport.Op, reply api.Reply, asked uuid.UUID) (Payment, error) {
	p, err := c.decoder.payment(reply.Object)
	if err == nil && op == opConfirm && p.ID == uuid.Nil {
		err = &fieldError{"id", "is missing"}
	}
	if err != nil {
		return Payment{}, newError(c.caller.Undecodable(op, reply.Outcome, err.Error()), asked)
	}
	if op == opNext && p.Status == "" {
		p.Status = StatusComplete
	}
	switch {
	case op == opConfirm && p.ID != asked:
		return Payment{}, c.mismatch(op, reply, asked, ErrWrongPayment, "the answer is about payment "+p.ID.String())
	case p.Status != StatusComplete:
		return p, c.mismatch(op, reply, asked, ErrNotComplete, "the record's status is not COMPLETE")
	}
	return p, nil
}

func (c *Client) mismatch(op *transport.Op, reply api.Reply, asked uuid.UUID, is error, detail string) *Error {
	f := c.caller.Undecodable(op, reply.Outcome, "")
	f.Undecodable, f.Ambiguous = false, false
	f.Detail = detail + ": not verified, do not grant it"
	e := newError(f, asked)
	e.is = is
	return e
}

func payTokenJSON(id uuid.UUID) []byte {
	b := make([]byte, 0, len(`{"payToken":"00000000-0000-0000-0000-000000000000"}`))
	b = append(b, `{"payToken":"`...)
	b = append(b, id.String()...)
	return append(b, `"}`...)
}

// Errors of records, tested with errors.Is.
var (
	// ErrNoProcessedPayment: no payment in PROGRESS is waiting (interface §7).
	ErrNoProcessedPayment = errors.New("no payment is waiting (NO_PROCESSED_PAYMENT)")
	// ErrNotComplete: the service returned a record whose status is not COMPLETE.
	ErrNotComplete = errors.New("the payment is not COMPLETE")
	// ErrWrongPayment: the response to Confirm holds another payment's record.
	ErrWrongPayment = errors.New("the answer is about another payment")
)
