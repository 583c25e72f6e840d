package banks

import (
	"errors"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
)

// Errors of every call, tested with errors.Is. They are the same values as in package
// payments.
var (
	// ErrAmbiguous: the upload may have been accepted; its response was lost.
	ErrAmbiguous = api.ErrAmbiguous
	// ErrUndecodable: a complete response arrived but cannot be decoded; Error.Raw holds it.
	ErrUndecodable = api.ErrUndecodable
	// ErrTokenRefused: the service answered HTTP 401, or HTTP 403 with an error of the service.
	ErrTokenRefused = api.ErrTokenRefused
	// ErrTokenSource: Config.TokenSource gave no usable token. Nothing was sent.
	ErrTokenSource = api.ErrTokenSource
)

// Error is the failure of one call. No part of it holds the API token.
type Error struct {
	Op         string        // "List", "ListDetailed", "UploadDeposit"
	Code       string        // of the service; may be empty
	Message    string        // of the service, for people; may be empty
	HTTPStatus int           // of the last complete response; 0 if there was none
	Attempts   int           // number of attempts
	RetryAfter time.Duration // the service's Retry-After with 429 or 503
	Raw        []byte        // a body that could not be decoded; token removed

	failure *api.Failure
}

func newError(f *api.Failure) *Error {
	return &Error{
		Op: f.Op.Name, Code: f.Code, Message: f.Message, HTTPStatus: f.HTTPStatus,
		Attempts: f.Attempts, RetryAfter: f.RetryAfter, Raw: f.Raw, failure: f,
	}
}

// Error returns what happened and what to do next.
func (e *Error) Error() string {
	if e.failure == nil {
		return "banks: " + e.Op + ": " + e.Code
	}
	return e.failure.Text("banks", "")
}

// Is supports errors.Is with the Err… variables of this package.
func (e *Error) Is(target error) bool { return e.failure != nil && e.failure.Is(target) }

// Unwrap returns the underlying network error without the token.
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
	return e.failure.LogValue()
}

// SafeToRetry reports whether it is safe to repeat the call that returned err without
// doubling an upload. It is false for nil and for errors of other packages.
func SafeToRetry(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.SafeToRetry()
}
