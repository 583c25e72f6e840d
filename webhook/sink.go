package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// Confirmer verifies a payment with the service. *payments.Client is one.
type Confirmer interface {
	// Confirm returns the payment id as the service knows it (interface §4.3). A nil
	// error means that the record is of this very id and COMPLETE. Any error means "not
	// now": the Handler remembers none. It is called at once from many goroutines, for
	// one id never twice at a time. ctx ends with Config.Budget; a Confirm that ignores
	// it keeps its place among Config.MaxConcurrent until it returns.
	Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error)
}

// Sink takes custody of verified payments and knows which ones it has: it is the
// store against repeats (interface §6.5) and the hand-over in one. Memory is one for
// trials; use a durable one for money.
//
// Both methods are called at once from many goroutines. One Handler never has two
// calls for one id under way; several Handlers, processes or a poller on the same
// Sink may.
type Sink interface {
	// Handled reports whether the payment is in safe hands already, so that a repeat is
	// answered 200 without asking the service. It is true only if an Accept of this id
	// has returned nil (or must have: the payment is stored); false is always safe, since
	// Accept is idempotent. An error is answered 503 and nothing is confirmed: a
	// confirm that completes a payment which then cannot be stored might lose it.
	Handled(ctx context.Context, id uuid.UUID) (bool, error)

	// Accept takes custody of p. It returns nil only once p is safe against whatever the
	// Sink promises to survive; any error, also one that is returned after p was stored,
	// is answered 503 and leads to another Accept of the same payment, now or never: the
	// service need not deliver a COMPLETE payment again. It is idempotent by p.ID: an
	// Accept of a payment that is in safe hands returns nil and has no effect.
	//
	// p comes from Confirm: its ID is not nil and its status is COMPLETE. Its amount may
	// be 0, which is a failed payment and not money, and it may differ from what was
	// asked for: whether goods are granted is for the Sink to decide. A record that
	// must not be granted is final all the same, so Accept keeps it aside and returns
	// nil; an error would make the service deliver it for 75 hours.
	//
	// ctx does not end when the sender hangs up. It ends Config.Budget after the call.
	Accept(ctx context.Context, p payments.Payment) error
}
