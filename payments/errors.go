package payments

import (
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/api"
)

// Errors of every operation, tested with errors.Is.
var (
	// ErrAmbiguous: the service may have acted and its answer may be lost (timeout,
	// reset, cut body, 5xx). Whether calling again is safe depends on the operation: ask
	// SafeToRetry.
	ErrAmbiguous = api.ErrAmbiguous
	// ErrUndecodable: a complete answer arrived that cannot be read; Error.Raw has it.
	ErrUndecodable = api.ErrUndecodable
	// ErrTokenRefused: the service does not accept the API token (HTTP 401, HTTP 403 with an
	// error of the service, or one of the codes of Config.TokenErrorCodes). Trying again with the
	// same token will not help.
	ErrTokenRefused = api.ErrTokenRefused
	// ErrTokenSource: Config.TokenSource failed, panicked or returned no usable token. Nothing
	// was sent.
	ErrTokenSource = api.ErrTokenSource
)

// Error is the failure of one operation. No part of it, and none of the errors it
// wraps, holds the API token.
type Error struct {
	// Op is the operation: "Create", "Next", "Confirm", "WebhookStatus", "ResendWebhook".
	Op string
	// Code is the service's error code, such as "NO_PROCESSED_PAYMENT"; empty if the
	// service named none.
	Code string
	// Message is the service's text for people; it may be empty.
	Message string
	// HTTPStatus is the status of the last complete answer; 0 if there was none. The
	// service's own errors usually come with 200.
	HTTPStatus int
	// PayToken is the payment that the call named; uuid.Nil for Create and Next.
	PayToken uuid.UUID
	// Attempts is how often the request was tried.
	Attempts int
	// RetryAfter is what the service asked for with 429 or 503; it may be absurdly long.
	RetryAfter time.Duration
	// Raw is the body, or what arrived of it, where it was not understood; at most
	// Config.MaxBodyBytes, with the token removed. Keep it: it may be all that is known
	// of a completed payment.
	Raw []byte

	failure *api.Failure
	is      error
}

func newError(f *api.Failure, payToken uuid.UUID) *Error {
	return &Error{
		Op: f.Op.Name, Code: f.Code, Message: f.Message, HTTPStatus: f.HTTPStatus,
		PayToken: payToken, Attempts: f.Attempts, RetryAfter: f.RetryAfter, Raw: f.Raw,
		failure: f,
	}
}

// Error says what happened to which payment, and what to do next.
func (e *Error) Error() string {
	if e.failure == nil {
		return "payments: " + e.Op + ": " + e.Code
	}
	return e.failure.Text("payments", e.subject())
}

func (e *Error) subject() string {
	if e.PayToken == uuid.Nil {
		return ""
	}
	return e.PayToken.String()
}

// Is answers for the Err… variables of this package.
func (e *Error) Is(target error) bool {
	return target == e.is && target != nil || e.failure != nil && e.failure.Is(target)
}

// Unwrap returns the network error below, without the token: errors.Is finds
// context.Canceled, io.ErrUnexpectedEOF, syscall.ECONNRESET and the like in it.
func (e *Error) Unwrap() error {
	if e.failure == nil {
		return nil
	}
	return e.failure.Cause
}

// SafeToRetry is what the function SafeToRetry asks.
func (e *Error) SafeToRetry() bool { return e.failure != nil && e.failure.SafeToRetry() }

// LogValue groups the error's fields for log/slog.
func (e *Error) LogValue() slog.Value {
	if e.failure == nil {
		return slog.StringValue(e.Error())
	}
	if e.PayToken == uuid.Nil {
		return e.failure.LogValue()
	}
	return e.failure.LogValue(slog.String("pay_token", e.subject()))
}

// SafeToRetry reports whether the call that returned err may be made again without
// the risk of losing a payment or doubling an effect: nothing was sent, the service
// refused without acting, or the operation is harmless to repeat. It says nothing of
// success: a call that was refused for its contents is refused again. It is false
// for nil and for errors of other packages.
func SafeToRetry(err error) bool {
	e, ok := errors.AsType[interface {
		error
		SafeToRetry() bool
	}](err)
	return ok && e.SafeToRetry()
}
