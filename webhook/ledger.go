package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// Confirmer verifies a payment with the service. *payments.Client is one.
type Confirmer interface {
	// Confirm returns the payment id as the service knows it (interface §4.3). A nil
	// error means that the record has this very id and is COMPLETE. Any error means "not
	// now": the Handler never treats one as final. Confirm is called from many goroutines
	// at once, but never twice at a time for one id. ctx ends with Config.Budget; a Confirm
	// that ignores it keeps its place among Config.MaxConcurrent until it returns.
	Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error)
}

// Sink takes custody of verified payments and knows which ones it has, so that repeats
// (interface §6.5) are dropped. Memory is one for trials; for money use a durable one, or
// better a Ledger.
//
// Its methods are called from many goroutines at once. One Handler never has two calls for
// one id under way; several Handlers, processes, or a poller on the same Sink may.
type Sink interface {
	// Handled reports whether the payment is stored already, so that a repeat is answered
	// 200 without asking the service. Return true only if an Accept of this id has returned
	// nil (or must have: the payment is stored); false is always safe, since Accept is
	// idempotent. An error is answered 503 and nothing is confirmed: a confirm that
	// completes a payment which then cannot be stored might lose it.
	Handled(ctx context.Context, id uuid.UUID) (bool, error)

	// Accept takes custody of p. It returns nil only once p is safe against whatever the
	// Sink promises to survive. Any error, also one that is returned after p was stored,
	// is answered 503 and leads to another Accept of the same payment, now or never: the
	// service may never deliver a COMPLETE payment again. Accept is idempotent by p.ID: if
	// the payment is stored already it returns nil and has no effect.
	//
	// p comes from Confirm: its ID is not nil and its status is COMPLETE. Its amount may
	// be 0, which is a failed payment and not money, and it may differ from what was
	// asked for: the Sink decides whether goods are granted. A record that must not be
	// granted is final too, so Accept sets it aside and returns nil; after an error the
	// service would deliver it for 75 hours.
	//
	// ctx does not end when the sender hangs up. It ends Config.Budget after the call.
	Accept(ctx context.Context, p payments.Payment) error
}

// Ledger is a durable store that also knows which payments are expected, and records an
// unknown id before it is confirmed. inbox.Inbox.Webhook returns one. Its methods are
// called like those of a Sink.
type Ledger interface {
	// State returns what is known of the payment id. An error is answered 503 and nothing is
	// confirmed.
	State(ctx context.Context, id uuid.UUID) (State, error)

	// RecordHint makes durable that a webhook named id. It is called in StateUnknown, after
	// the rate limit and before the confirm, and in any state after a confirm with an unknown
	// outcome: the confirm may have completed the payment, the service does not name it again
	// then, and the process may be killed before Accept. An error is answered 503, or 429 if it
	// is ErrFull, and nothing is confirmed.
	RecordHint(ctx context.Context, id uuid.UUID) error

	// ConfirmFailed records that the confirm of an unknown id failed with err, so that the
	// Ledger knows which of its hints cannot be complete. It is called after RecordHint, and
	// not if the outcome is unknown: RecordHint is called then. If ConfirmFailed fails, the hint
	// stays unresolved, and nothing else changes.
	ConfirmFailed(ctx context.Context, id uuid.UUID, err error) error

	// Accept takes custody of p, under the contract of Sink.Accept.
	Accept(ctx context.Context, p payments.Payment) error
}

// State is what a Ledger knows of a payment.
type State int

// States of a payment.
const (
	// StateUnknown: the Ledger does not know the id. Anyone can make ids up.
	StateUnknown State = iota
	// StateExpected: the merchant created this payment, so its confirm does not count
	// against Config.ConfirmRate, and the Ledger has its id.
	StateExpected
	// StateHandled: the payment is stored, as in Sink.Handled.
	StateHandled
)

var stateNames = [...]string{"unknown", "expected", "handled"}

// String returns the name of the state, such as "expected".
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state(%d)", int(s))
	}
	return stateNames[s]
}

// MarshalText returns the name of the state.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ErrFull is the error of Ledger.RecordHint if the Ledger takes no new ids now. It is answered
// like a Config.ConfirmRate that is used up: 429, and the service sends the webhook again.
var ErrFull = errors.New("webhook: the Ledger takes no new ids now")

// sinkLedger is a Sink as a Ledger that expects no payment and records no hint.
type sinkLedger struct{ Sink }

func (s sinkLedger) State(ctx context.Context, id uuid.UUID) (State, error) {
	handled, err := s.Handled(ctx, id)
	if handled {
		return StateHandled, err
	}
	return StateUnknown, err
}

func (sinkLedger) RecordHint(context.Context, uuid.UUID) error { return nil }

func (sinkLedger) ConfirmFailed(context.Context, uuid.UUID, error) error { return nil }
