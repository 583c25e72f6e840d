package transport

import (
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/secret"
)

// Kind is how an operation ended.
type Kind int

// The ends of an operation.
const (
	// Answered means that Status and Body are the service's complete response.
	Answered Kind = iota
	// Unsent means that not one byte of the last attempt left this process.
	Unsent
	// Refused means that the service responded 429, or 503 with Retry-After, and did not act.
	Refused
	// Unknown means that the service may have acted: its response is lost or is another 5xx.
	Unknown
)

// Outcome is the result of an operation after all its attempts.
type Outcome struct {
	Kind       Kind
	Status     int           // HTTP status; 0 without a complete answer
	Body       []byte        // the body, or what arrived of it; not redacted
	Whole      bool          // the end of Body was marked by the peer (length or chunks)
	Cause      *secret.Cause // why there is no answer; nil if there is one
	Attempts   int
	Lost       bool          // an attempt before the last one may have had its effect
	RetryAfter time.Duration // what a Refused answer asked for, unbounded; 0 if nothing
}

// outcome returns the Outcome of the call. After an error from above inner (a middleware),
// the verdict still depends on the state of the wire.
func (k *call) outcome(err error) Outcome {
	o := Outcome{
		Status: k.status, Body: k.answer, Whole: k.whole,
		Attempts: k.attempts,
	}
	if err != nil {
		o.Cause = k.cause(err)
	}
	switch k.verdict {
	case unsent:
		o.Kind = Unsent
	case refused:
		o.Kind = Refused
		o.RetryAfter, _ = backoff.RetryAfter(k.retryHdr, time.Now())
	case unknown:
		o.Kind = Unknown
	case answered:
		o.Kind = Answered
	}
	return o.after(k.lost)
}

// After returns the outcome of an operation that was performed twice and ended first with
// first, then with o.
func (o Outcome) After(first Outcome) Outcome {
	o.Attempts += first.Attempts
	return o.after(first.Lost || first.Kind == Unknown)
}

// after returns o with earlier attempts taken into account: if one of them was lost, a last
// attempt without effect does not prove that nothing happened.
func (o Outcome) after(lost bool) Outcome {
	o.Lost = o.Lost || lost
	if o.Lost && (o.Kind == Unsent || o.Kind == Refused) {
		o.Kind = Unknown
	}
	return o
}

// cause returns the error that inner saw. If the caller's context ended the wait between two
// attempts, the error names both that and the reason for the wait.
func (k *call) cause(err error) *secret.Cause {
	redactor := k.client.redactor
	switch {
	case k.failure == nil:
		return redactor.Cause(err)
	case errors.Is(err, k.failure):
		return k.failure
	}
	return redactor.Cause(fmt.Errorf("%w; last attempt: %w", err, k.failure))
}
