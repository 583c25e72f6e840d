package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/safecall"
)

// Standing is how a payment stands with a Ledger.
type Standing int

// The standings.
const (
	// StandingUnknown: nothing is known of the id. Anybody can make ids up.
	StandingUnknown Standing = iota
	// StandingExpected: the merchant created this payment, so the id is no stranger's
	// invention: its confirm does not use up Config.ConfirmRate, and it is on record.
	StandingExpected
	// StandingHandled: the payment is in safe hands, as in Sink.Handled.
	StandingHandled
)

// Ledger is a Sink that knows which payments are expected, and that writes an unknown
// id down before it is confirmed. If Config.Sink is one, the Handler uses it as such;
// *inbox.Inbox is one. Its methods are called like Sink's.
type Ledger interface {
	Sink

	// Standing is asked in place of Handled. An error is answered 503 and nothing is
	// confirmed.
	Standing(ctx context.Context, id uuid.UUID) (Standing, error)

	// Note makes durable that a webhook named id. It is called for StandingUnknown only,
	// after the rate limit and before the confirm, and for any id whose confirm had an
	// outcome that is not known: a confirm may complete the payment,
	// the service does not name it again then, and the process may be killed before
	// Accept. An error is answered 503, or 429 if it is ErrFull, and nothing is confirmed.
	Note(ctx context.Context, id uuid.UUID) error
}

// ErrFull is Note's error if the Ledger takes no new ids now. The answer is the one of a
// Config.ConfirmRate that is used up: the service sends the webhook again.
var ErrFull = errors.New("webhook: the Ledger takes no new ids now")

// Doubting is a Ledger that tells apart which of the ids it has noted may be complete, so that it
// may forget others. If Config.Sink is one, the Handler uses it as such; *inbox.Inbox
// is one.
type Doubting interface {
	Ledger

	// Unconfirmed tells that the confirm of an unknown id failed with err, after its Note and
	// with no Note of this Handler since. It is not called if the outcome is not known:
	// then Note is. An error of it changes nothing but that the id stays in doubt.
	Unconfirmed(ctx context.Context, id uuid.UUID, err error) error
}

// standing asks the Sink, whichever kind it is. Its error names the method.
func (h *Handler) standing(ctx context.Context, id uuid.UUID) (s Standing, err error) {
	method := "webhook: Sink.Handled"
	if h.ledger != nil {
		method = "webhook: Ledger.Standing"
	}
	err = safecall.Do(method, func() (err error) {
		if h.ledger != nil {
			s, err = h.ledger.Standing(ctx, id)
			return err
		}
		handled, err := h.cfg.Sink.Handled(ctx, id)
		if handled {
			s = StandingHandled
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("%s: %w", method, err)
	}
	return s, nil
}

// note writes an unknown id down, if the Sink can.
func (h *Handler) note(ctx context.Context, id uuid.UUID, s Standing) error {
	if h.ledger == nil || s != StandingUnknown {
		return nil
	}
	return safecall.Do("webhook: Ledger.Note", func() error { return h.ledger.Note(ctx, id) })
}

// unconfirmed tells how the confirm of an unknown id failed, if the Sink asks for it.
func (h *Handler) unconfirmed(ctx context.Context, id uuid.UUID, s Standing, failure error) error {
	d, ok := h.ledger.(Doubting)
	if !ok || s != StandingUnknown {
		return nil
	}
	return safecall.Do("webhook: Doubting.Unconfirmed", func() error { return d.Unconfirmed(ctx, id, failure) })
}
