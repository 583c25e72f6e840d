package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

var (
	errBusy    = errors.New("webhook: Config.MaxConcurrent payments are in progress")
	errRate    = errors.New("webhook: Config.ConfirmRate is used up")
	errRefused = errors.New("webhook: the service rejected this id less than Config.RefusedInterval ago")
	errBudget  = errors.New("webhook: still in progress when Config.Budget ended")
)

// deliver waits for the work on id, which another delivery may have started, until ctx
// ends.
func (h *Handler) deliver(ctx context.Context, id uuid.UUID) answer {
	c, started := h.inflight.do(id, func(c *call) answer { return h.work(ctx, id, c) })
	if c == nil {
		return answer{http.StatusTooManyRequests, OutcomeLimited, errBusy}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		select {
		case <-c.done: // both at one instant: the result counts
		default:
			return answer{c.lateStatus(), OutcomeTimeout, errBudget}
		}
	}
	a := c.answer
	if !started && a.outcome == OutcomeAccepted {
		a.outcome = OutcomeRepeated
	}
	return a
}

// work processes one payment: it is handled already, or it is confirmed and handed over.
// ctx ends with the budget of the delivery that started it.
//
// Only a failure of the merchant's own store is a 5xx: proxies take a server that answers
// 5xx out of service, for customers as well, and anyone can name ids that the service rejects.
func (h *Handler) work(ctx context.Context, id uuid.UUID, c *call) answer {
	state, err := h.state(ctx, id)
	switch {
	case err != nil:
		return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
	case state == StateHandled:
		return answer{http.StatusOK, OutcomeRepeated, nil}
	case ctx.Err() != nil:
		// A confirm may complete the payment, which is no use without time to take it.
		return answer{http.StatusServiceUnavailable, OutcomeTimeout, errBudget}
	case h.refused.justRefused(id):
		return answer{http.StatusTooManyRequests, OutcomeLimited, errRefused}
	case state == StateUnknown && h.confirmLimit != nil && !h.confirmLimit.Allow():
		return answer{http.StatusTooManyRequests, OutcomeLimited, errRate}
	}
	if state == StateUnknown {
		if err := h.recordHint(ctx, id); errors.Is(err, ErrFull) {
			return answer{http.StatusTooManyRequests, OutcomeLimited, err}
		} else if err != nil {
			return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
		}
	}
	c.confirming.Store(true)
	p, err := h.verify(ctx, id)
	switch {
	case errors.Is(err, payments.ErrAmbiguous), errors.Is(err, payments.ErrUndecodable):
		// The confirm may have completed the payment, and nobody names it again: have it confirmed
		// again. An unknown id has its hint, but the Ledger may have confirmed it since, and rejected it.
		c.confirming.Store(false)
		recordErr := h.recordHint(context.WithoutCancel(ctx), id)
		if recordErr != nil && !errors.Is(recordErr, ErrFull) { // ErrFull is for new ids: this one is recorded
			return answer{http.StatusServiceUnavailable, OutcomeAmbiguous, errors.Join(err, recordErr)}
		}
		return answer{http.StatusTooManyRequests, OutcomeAmbiguous, err}
	case err != nil:
		h.refused.add(id, err)
		if state == StateUnknown {
			err = errors.Join(err, h.confirmFailed(ctx, id, err))
		}
		return answer{http.StatusTooManyRequests, OutcomeUnconfirmed, err}
	}
	c.confirming.Store(false)
	if err := h.handOver(ctx, p); err != nil {
		return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
	}
	return answer{http.StatusOK, OutcomeAccepted, nil}
}

func (h *Handler) state(ctx context.Context, id uuid.UUID) (s State, err error) {
	err = named(h.stateMethod, func() (err error) {
		s, err = h.ledger.State(ctx, id)
		return err
	})
	return s, err
}

func (h *Handler) recordHint(ctx context.Context, id uuid.UUID) error {
	return named("Ledger.RecordHint", func() error { return h.ledger.RecordHint(ctx, id) })
}

func (h *Handler) confirmFailed(ctx context.Context, id uuid.UUID, failure error) error {
	return named("Ledger.ConfirmFailed", func() error { return h.ledger.ConfirmFailed(ctx, id, failure) })
}

// named calls a method of the Client, the Sink or the Ledger. The error names the method.
func named(method string, f func() error) error {
	err := safecall.Do("webhook: "+method, f)
	if _, panicked := errors.AsType[*safecall.PanicError](err); err == nil || panicked {
		return err // which names the method already
	}
	return fmt.Errorf("webhook: %s: %w", method, err)
}

// verify confirms the payment. payments.Client has checked the record; another Confirmer
// may not have.
func (h *Handler) verify(ctx context.Context, id uuid.UUID) (p payments.Payment, err error) {
	err = named("Client.Confirm", func() (err error) {
		p, err = h.cfg.Client.Confirm(ctx, id)
		return err
	})
	switch {
	case err != nil:
		return payments.Payment{}, err
	case p.ID != id:
		return payments.Payment{}, fmt.Errorf("webhook: Client.Confirm: asked for %s, got %s: %w",
			id, p.ID, payments.ErrWrongPayment)
	case p.Status != payments.StatusComplete:
		return payments.Payment{}, fmt.Errorf("webhook: Client.Confirm: %s: %w", id, payments.ErrNotComplete)
	}
	return p, nil
}

// handOver gives Accept a whole budget, however much of it the confirm has used: the
// service may not deliver again, so giving up early could lose the payment.
func (h *Handler) handOver(ctx context.Context, p payments.Payment) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.cfg.Budget)
	defer cancel()
	err := safecall.Do("webhook: "+h.acceptMethod, func() error { return h.ledger.Accept(ctx, p) })
	if err == nil {
		return nil
	}
	err = fmt.Errorf("webhook: payment %s is confirmed, but %s: %w", p.ID, h.acceptMethod, err)
	h.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: a confirmed payment was not handed over",
		append([]slog.Attr{slog.String("payment_id", p.ID.String())}, safecall.Attrs(err)...)...)
	if h.cfg.OnHandOverFailed != nil {
		hookErr := safecall.Do("webhook: Config.OnHandOverFailed", func() error {
			h.cfg.OnHandOverFailed(p, err)
			return nil
		})
		if hookErr != nil {
			h.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: webhook hook failed", safecall.Attrs(hookErr)...)
		}
	}
	return err
}
