package poller

import (
	"context"

	"github.com/depositpay/depositpay-go/payments"
)

// Source takes the next payment from the service. *payments.Client is one.
type Source interface {
	// Next completes one waiting payment and returns it. The error is one of package
	// payments: ErrNoProcessedPayment if none waits, ErrAmbiguous if an answer may have
	// been lost, ErrNotComplete with a record that is not verified, ErrTokenRefused, or
	// any other for a call that took no payment.
	//
	// A Poller never has two calls under way. Once the request is on its way, Next must
	// not give up because ctx ends: the payment would be lost. It must return by itself
	// in the end.
	Next(ctx context.Context) (payments.Payment, error)
}

// Sink takes custody of payments.
type Sink interface {
	// Accept takes custody of p. It returns nil only once p is safe against whatever the
	// Sink promises to survive: the Poller forgets p then, and the service has forgotten
	// it before. After any error, or a panic, the Poller calls Accept again with the
	// same payment, so Accept is idempotent by p.ID. One Poller calls it from one
	// goroutine; several Pollers on one Sink call it at once.
	//
	// p is COMPLETE. Its amount may be 0, which is a failed payment and not money. Its ID
	// may be uuid.Nil, if the service sent none: such a record is not the same payment as
	// any other one, and is for a person to look at. Records that must not be granted
	// are final all the same: keep them aside and return nil.
	//
	// ctx does not end with the one of Run. It ends after Config.AcceptTimeout, or when
	// Config.ShutdownTimeout is over; Accept must return then, since Run waits for it.
	Accept(ctx context.Context, p payments.Payment) error
}

// SinkFunc is a function as a Sink, under the same contract.
type SinkFunc func(ctx context.Context, p payments.Payment) error

// Accept calls f.
func (f SinkFunc) Accept(ctx context.Context, p payments.Payment) error { return f(ctx, p) }
