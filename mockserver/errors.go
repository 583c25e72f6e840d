package mockserver

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// Code names what went wrong, for programs. It is the text of the "error" field
// of an answer (interface §7) and of [Error.Code].
type Code string

// The interface fixes CodeNoProcessedPayment only (§7); the other codes are
// choices of this mock.
const (
	// CodeNoProcessedPayment: no payment of the application waits in PROGRESS
	// (GET /callback/rest). It is the empty result of a poll, not a failure.
	CodeNoProcessedPayment Code = "NO_PROCESSED_PAYMENT"
	// CodeInvalidToken: the token is not that of one of the [Server.Applications].
	CodeInvalidToken Code = "INVALID_TOKEN"
	// CodeInvalidJSON: the body is not one well-formed JSON object in UTF-8, or
	// a key occurs twice in it.
	CodeInvalidJSON Code = "INVALID_JSON"
	// CodeInvalidParameter: a field or query parameter is missing or has a wrong
	// value; the message names it.
	CodeInvalidParameter Code = "INVALID_PARAMETER"
	// CodeBodyTooLarge: the request body is longer than 64 KiB.
	CodeBodyTooLarge Code = "BODY_TOO_LARGE"
	// CodePaymentNotFound: the application has no payment with this payToken.
	// Another application's payment is reported in the same way.
	CodePaymentNotFound Code = "PAYMENT_NOT_FOUND"
	// CodePaymentNotPaid: nobody has paid this payment (it may have expired), so there
	// is nothing to confirm and no webhook to resend.
	CodePaymentNotPaid Code = "PAYMENT_NOT_PAID"
	// CodePaymentAlreadyPaid: a deposit for this payment was recognized before.
	CodePaymentAlreadyPaid Code = "PAYMENT_ALREADY_PAID"
	// CodePaymentExpired: nobody paid this payment within [Config.Lifetime], and
	// [Config.LateDeposit] is not set.
	CodePaymentExpired Code = "PAYMENT_EXPIRED"
	// CodeWebhookNotFound: no webhook was sent for the payment, or none can be
	// because the application has no webhook URI.
	CodeWebhookNotFound Code = "WEBHOOK_NOT_FOUND"
	// CodeNoAttemptWaiting: no automatic webhook attempt of the payment waits for its time.
	CodeNoAttemptWaiting Code = "NO_ATTEMPT_WAITING"
	// CodeUnmatchedNotFound: no unmatched deposit has this deposit_id. It was resolved,
	// dismissed or forgotten, or never was one.
	CodeUnmatchedNotFound Code = "UNMATCHED_NOT_FOUND"
	// CodeProductNotFound: the game store has no product with this id.
	CodeProductNotFound Code = "PRODUCT_NOT_FOUND"
	// CodeUserNotFound: the game store has no user with this id.
	CodeUserNotFound Code = "USER_NOT_FOUND"
	// CodeStorageFull: a cap of [Config] is reached; nothing was stored.
	CodeStorageFull Code = "STORAGE_FULL"
	// CodeNotFound: the mock has no such path.
	CodeNotFound Code = "NOT_FOUND"
	// CodeMethodNotAllowed: the path exists under another HTTP method.
	CodeMethodNotAllowed Code = "METHOD_NOT_ALLOWED"
	// CodeForbidden: a browser sent the request for another site, or under a host name
	// that is not the mock's own.
	CodeForbidden Code = "FORBIDDEN"
	// CodeFaultInjected: a [Fault] answers in place of the service.
	CodeFaultInjected Code = "FAULT_INJECTED"
	// CodeServerClosed: the call came after [Server.Close].
	CodeServerClosed Code = "SERVER_CLOSED"
)

// Error is the error of every [Server] method that can fail on its arguments or
// on the state of a payment, and the answer of an endpoint that refuses a
// request. Reach it with errors.As and compare Code.
type Error struct {
	// Code is the reason, for programs.
	Code Code
	// Message says what was wrong and what to do. It never holds a token.
	Message string
}

// Error returns the code and the message.
func (e *Error) Error() string { return "mockserver: " + string(e.Code) + ": " + e.Message }

// errorSize is room for most errors, so that answering one takes one allocation.
const errorSize = 192

// appendJSON appends the service's error shape: flat, "error" and "error_msg".
func (e *Error) appendJSON(b []byte) []byte {
	b = append(b, `{"error":`...)
	b = strictjson.AppendString(b, string(e.Code))
	b = append(b, `,"error_msg":`...)
	b = strictjson.AppendString(b, e.Message)
	return append(b, '}')
}

// httpStatus is the status of a control answer. The service itself answers 200
// to everything, but control calls come from tools that look at the status.
func (c Code) httpStatus() int {
	switch c {
	case CodeNotFound, CodePaymentNotFound, CodeWebhookNotFound, CodeProductNotFound, CodeUserNotFound,
		CodeUnmatchedNotFound:
		return http.StatusNotFound
	case CodeForbidden:
		return http.StatusForbidden
	case CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case CodePaymentAlreadyPaid, CodePaymentNotPaid, CodePaymentExpired, CodeNoAttemptWaiting, CodeStorageFull,
		CodeServerClosed:
		return http.StatusConflict
	case CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusBadRequest
	}
}

// asError makes an error of a problem: a nil *Error must become a nil error.
func asError(problem *Error) error {
	if problem == nil {
		return nil
	}
	return problem
}

// problemIn is the problem in an error that asError has made.
func problemIn(err error) *Error {
	var problem *Error
	_ = errors.As(err, &problem)
	return problem
}

// asProblem is problemIn for a method with a result.
func asProblem[T any](result T, err error) (T, *Error) { return result, problemIn(err) }

func storageFull(format string, args ...any) *Error {
	return &Error{Code: CodeStorageFull, Message: fmt.Sprintf(format, args...)}
}

func invalidJSON(msg string) *Error { return &Error{Code: CodeInvalidJSON, Message: msg} }

func invalidParameter(name, msg string) *Error {
	return &Error{Code: CodeInvalidParameter, Message: `"` + name + `" ` + msg}
}

func serverClosed() *Error {
	return &Error{Code: CodeServerClosed, Message: "the mock server is closed; create a new one"}
}
