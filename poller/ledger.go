package poller

import (
	"context"

	"github.com/depositpay/depositpay-go/payments"
)

// Source takes the next payment from the service. *payments.Client is one.
type Source interface {
	// Next completes one waiting payment and returns it. The error is one of package
	// payments: ErrNoProcessedPayment if none waits, ErrAmbiguous if the response may have
	// been lost, ErrNotComplete with a record that is not verified, ErrTokenRefused, or
	// any other for a call that took no payment.
	//
	// A Poller never has two calls under way. Once the request is on its way, Next must
	// not give up because ctx ends: the payment would be lost. It must return on its own
	// eventually.
	Next(ctx context.Context) (payments.Payment, error)
}

// Sink takes custody of payments.
type Sink interface {
	// Accept takes custody of p. It returns nil only once p is safe against whatever the
	// Sink promises to survive: the Poller forgets p then, and the service has already
	// forgotten it. After any error, or a panic, the Poller calls Accept again with the
	// same payment, so Accept is idempotent by p.ID. One Poller calls it from one
	// goroutine; several Pollers on one Sink call it at once.
	//
	// p is COMPLETE. Its amount may be 0, which is a failed payment and not money. Its ID
	// may be uuid.Nil, if the service sent none: two such records are never the same
	// payment, and a person must look at them. A record that must not be granted is final
	// too: set it aside and return nil.
	//
	// ctx does not end with the one of Run. It ends after Config.AcceptTimeout, or when
	// Config.ShutdownTimeout is over; Accept must return then, since Run waits for it.
	Accept(ctx context.Context, p payments.Payment) error
}

// SinkFunc is a function as a Sink, under the same contract.
type SinkFunc func(ctx context.Context, p payments.Payment) error

// Accept calls f.
func (f SinkFunc) Accept(ctx context.Context, p payments.Payment) error { return f(ctx, p) }

// Ledger is a durable Sink that keeps a journal of the polls. inbox.Inbox.Poller returns one.
type Ledger interface {
	Sink

	// Begin returns the journal of one Run, which calls it before its first poll. Several
	// Runs may have a Journal of one Ledger at once.
	Begin() Journal
}

// Journal is told of the polls of one Run, before and after, so that a poll whose response
// is lost leaves a trace. Run calls the methods from its goroutine, one after the other.
type Journal interface {
	// BeforePoll is called before every poll. An error says that the Ledger cannot take
	// the payment that the poll may return: nothing is polled, and BeforePoll is called again
	// after a backoff. The poll uses the returned context.
	BeforePoll(ctx context.Context) (context.Context, error)

	// PollLost is called for every poll that may have lost a payment (KindAmbiguous), or
	// returned one that is not COMPLETE (KindUnverified), with the poll's error. The Ledger
	// looks for the payment from then on, and reports the loss if it stays open: so the
	// Poller logs KindAmbiguous as a warning. An error of PollLost is logged as an error.
	PollLost(ctx context.Context, err error) error

	// Close is called once before Run returns, when no poll is under way, unless there are
	// payments that Accept has not taken: the Ledger must look for those as after a crash.
	// An error of Close is logged.
	Close(ctx context.Context) error
}

// noJournal is the journal of a Run that has no Ledger.
type noJournal struct{}

func (noJournal) BeforePoll(ctx context.Context) (context.Context, error) { return ctx, nil }

func (noJournal) PollLost(context.Context, error) error { return nil }

func (noJournal) Close(context.Context) error { return nil }
