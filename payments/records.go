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

// Next takes one payment in PROGRESS, completes it and returns it (GET
// /callback/rest, interface §4.2). If no payment waits the error is
// ErrNoProcessedPayment.
//
// The call is a destructive read without an acknowledgement: keep what it returns
// before calling again. If the answer may have been lost the error is ErrAmbiguous;
// one payment may then be complete that nobody holds. Error.Raw has what did arrive.
// Next never asks again by itself in that case: the next answer would hide the loss.
//
// Until a connection is there ctx stops the call. From then on it does not, because
// that could cost a payment: Next returns with the answer or after
// Config.NextTimeout.
//
// A record whose status is not COMPLETE is returned together with ErrNotComplete. A
// record without a status counts as complete, since that is what the call does (§4.2).
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

// Decode reads the body of an answer to Next that was kept (see WithJournal), in all
// the forms that Next reads.
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

// Confirm verifies the payment payToken, the payment_id of a webhook, and returns
// its record (POST /payments/confirm, interface §4.3).
//
// err is nil only for the very payment that was asked for, with status COMPLETE.
// Another status gives the record and ErrNotComplete; another id gives
// ErrWrongPayment. A refusal by the service is an *Error with its Code: it is never
// final, since the customer may pay later. Confirm may be called again for the same
// id at any time, and does so by itself when an answer is lost, within ctx's
// deadline; if the last one is lost too the error is ErrAmbiguous.
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
	// ErrNoProcessedPayment: no payment in PROGRESS waits (interface §7). It is how every
	// drain of Next ends.
	ErrNoProcessedPayment = errors.New("no payment is waiting (NO_PROCESSED_PAYMENT)")
	// ErrNotComplete: the service returned a record whose status is not COMPLETE.
	ErrNotComplete = errors.New("the payment is not COMPLETE")
	// ErrWrongPayment: Confirm was answered with another payment's record.
	ErrWrongPayment = errors.New("the answer is about another payment")
)
