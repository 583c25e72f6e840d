package grant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Watch notices a second poller on the same token, which takes payments away from this one.
// Give it to the inbox and to the webhook as their client. It can only see payments whose
// id is known: those you created, and those a webhook has named.
//
// A payment was completed by somebody else if it was complete well before this process first
// asked for it, and no poll of this process returned it. A poll whose answer was lost looks the
// same; the inbox reports those as possible losses.
type Watch struct {
	inbox.Client
	// Margin is by how much the clocks of the service and of this machine may differ.
	// Default 1 min.
	Margin time.Duration
	// Logger gets the warning, at error level. Default slog.Default().
	Logger *slog.Logger

	mu       sync.Mutex
	suspects map[uuid.UUID]time.Time
	foreign  int
}

// maxSuspects bounds what is remembered.
const maxSuspects = 10_000

// Confirm is the client's, and looks at when the payment was completed.
func (w *Watch) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	asked := time.Now()
	p, err := w.Client.Confirm(ctx, id)
	if err == nil && !p.VerifiedAt.IsZero() && p.VerifiedAt.Before(asked.Add(-w.margin())) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.suspects == nil {
			w.suspects = map[uuid.UUID]time.Time{}
		}
		if _, known := w.suspects[id]; !known && len(w.suspects) < maxSuspects {
			w.suspects[id] = asked
		}
	}
	return p, err
}

func (w *Watch) margin() time.Duration {
	if w.Margin == 0 {
		return time.Minute
	}
	return w.Margin
}

// Check asks the ledger which of the suspects came by a poll of ours after all, and warns
// about the others, once each. It returns how many payments another one has completed since
// the start.
func (w *Watch) Check(ctx context.Context, box *inbox.Inbox) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for id, asked := range w.suspects {
		entry, err := box.Get(ctx, id.String())
		if errors.Is(err, inbox.ErrNotFound) {
			continue // it could not be stored yet
		}
		if err != nil {
			return w.foreign, fmt.Errorf("grant: looking for a second poller: %w", err)
		}
		switch {
		case entry.Sources.Has(inbox.ChannelPoll):
		case entry.Stage == inbox.StageReview && entry.Reason == string(inbox.ReasonTooOld): // complete before this ledger was made
		case entry.Stage < inbox.StageReady || time.Since(asked) < w.margin():
			continue // the poll's answer may be on its way
		default:
			found++
		}
		delete(w.suspects, id)
	}
	if found > 0 {
		w.foreign += found
		w.warn(ctx, box, found)
	}
	return w.foreign, nil
}

func (w *Watch) warn(ctx context.Context, box *inbox.Inbox, found int) {
	logger := w.Logger
	if logger == nil {
		logger = slog.Default()
	}
	losses := 0
	if report, err := box.LastReport(ctx); err == nil {
		losses = len(report.PossibleLosses)
	}
	logger.LogAttrs(ctx, slog.LevelError, "ANOTHER POLLER COMPLETES PAYMENTS OF THIS TOKEN: stop it, or get a token of its own for it. "+
		"These payments were complete before this process asked for them, and no poll of it returned them",
		slog.Int("payments", found), slog.Int("in_all", w.foreign), slog.Int("possible_losses_of_our_own_polls", losses))
}
