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
	// ErrAmbiguous: the service may have acted, but its response was lost (timeout, reset,
	// truncated body, 5xx). Whether it is safe to call again depends on the operation; see
	// SafeToRetry.
	ErrAmbiguous = api.ErrAmbiguous
	// ErrUndecodable: a complete response arrived but cannot be decoded; Error.Raw holds it.
	ErrUndecodable = api.ErrUndecodable
	// ErrTokenRefused: the service rejects the API token (HTTP 401, HTTP 403 with an error of
	// the service, or one of Config.TokenErrorCodes). Retrying with the same token is useless.
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
	// HTTPStatus is the status of the last complete response; 0 if there was none. The
	// service's own errors usually come with 200.
	HTTPStatus int
	// PayToken is the payment given to the call; uuid.Nil for Create and Next.
	PayToken uuid.UUID
	// Attempts is the number of attempts.
	Attempts int
	// RetryAfter is the service's Retry-After with 429 or 503; it may be absurdly long.
	RetryAfter time.Duration
	// Raw is the received part of a body that could not be decoded: at most
	// Config.MaxBodyBytes, with the token removed. Store it: it may be the only trace of a
	// completed payment.
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

// Error returns what happened, to which payment, and what to do next.
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

// Is supports errors.Is with the Err… variables of this package.
func (e *Error) Is(target error) bool {
	return target == e.is && target != nil || e.failure != nil && e.failure.Is(target)
}

// Unwrap returns the underlying network error without the token, so that errors.Is finds
// context.Canceled, io.ErrUnexpectedEOF, syscall.ECONNRESET and the like.
func (e *Error) Unwrap() error {
	if e.failure == nil {
		return nil
	}
	return e.failure.Cause
}

// SafeToRetry implements the function SafeToRetry.
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

// SafeToRetry reports whether it is safe to repeat the call that returned err, without
// losing a payment or doubling an effect: nothing was sent, the service rejected the call
// without acting, or the operation is idempotent. The repeat may fail: an invalid
// call is rejected again. It is false for nil and for errors of other packages.
func SafeToRetry(err error) bool {
	e, ok := errors.AsType[interface {
		error
		SafeToRetry() bool
	}](err)
	return ok && e.SafeToRetry()
}
