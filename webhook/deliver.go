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
	errBusy    = errors.New("webhook: Config.MaxConcurrent payments are in work")
	errRate    = errors.New("webhook: Config.ConfirmRate is used up")
	errRefused = errors.New("webhook: the service refused this id less than Config.RefusedInterval ago")
	errBudget  = errors.New("webhook: still in work when Config.Budget ended")
)

// deliver waits for the work on id, which another delivery may have begun, until ctx
// ends.
func (h *Handler) deliver(ctx context.Context, id uuid.UUID) answer {
	j, first := h.desk.join(id, func(j *job) answer { return h.work(ctx, id, j) })
	if j == nil {
		return answer{http.StatusTooManyRequests, OutcomeLimited, errBusy}
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		select {
		case <-j.done: // both at one instant: the result counts
		default:
			return answer{j.lateStatus(), OutcomeTimeout, errBudget}
		}
	}
	a := j.answer
	if !first && a.outcome == OutcomeAccepted {
		a.outcome = OutcomeRepeated
	}
	return a
}

// work sees to one payment: known already, or confirm and hand over. ctx ends with
// the budget of the delivery that began it.
//
// Only what the merchant's own store cannot do is a 5xx: proxies take a server out that
// answers those, for customers as well, and anybody can name ids that the service refuses.
func (h *Handler) work(ctx context.Context, id uuid.UUID, j *job) answer {
	standing, err := h.standing(ctx, id)
	switch {
	case err != nil:
		return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
	case standing == StandingHandled:
		return answer{http.StatusOK, OutcomeRepeated, nil}
	case ctx.Err() != nil:
		// A confirm may complete the payment, which is no use without time to take it.
		return answer{http.StatusServiceUnavailable, OutcomeTimeout, errBudget}
	case h.refused.justRefused(id):
		return answer{http.StatusTooManyRequests, OutcomeLimited, errRefused}
	case standing == StandingUnknown && h.confirm != nil && !h.confirm.Allow():
		return answer{http.StatusTooManyRequests, OutcomeLimited, errRate}
	}
	if err := h.note(ctx, id, standing); err != nil {
		err = fmt.Errorf("webhook: Ledger.Note: %w", err)
		if errors.Is(err, ErrFull) {
			return answer{http.StatusTooManyRequests, OutcomeLimited, err}
		}
		return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
	}
	j.asking.Store(true)
	p, err := h.verify(ctx, id)
	switch {
	case errors.Is(err, payments.ErrAmbiguous), errors.Is(err, payments.ErrUndecodable):
		// The confirm may have completed it, and nobody names it again: have it asked for. An
		// unknown one is noted already, but the Sink may have asked, and have been refused, since.
		j.asking.Store(false)
		noted := h.note(context.WithoutCancel(ctx), id, StandingUnknown)
		if noted != nil && !errors.Is(noted, ErrFull) { // it is not new, and so on record
			return answer{http.StatusServiceUnavailable, OutcomeAmbiguous, errors.Join(err, noted)}
		}
		return answer{http.StatusTooManyRequests, OutcomeAmbiguous, err}
	case err != nil:
		h.refused.note(id, err)
		err = errors.Join(err, h.unconfirmed(ctx, id, standing, err))
		return answer{http.StatusTooManyRequests, OutcomeUnconfirmed, err}
	}
	j.asking.Store(false)
	if err := h.handOver(ctx, p); err != nil {
		return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}
	}
	return answer{http.StatusOK, OutcomeAccepted, nil}
}

// verify asks the service. payments.Client has checked the answer; another Confirmer
// may not have.
func (h *Handler) verify(ctx context.Context, id uuid.UUID) (p payments.Payment, err error) {
	err = safecall.Do("webhook: Client.Confirm", func() (err error) {
		p, err = h.cfg.Client.Confirm(ctx, id)
		return err
	})
	switch {
	case err != nil:
		return payments.Payment{}, fmt.Errorf("webhook: Client.Confirm: %w", err)
	case p.ID != id:
		return payments.Payment{}, fmt.Errorf("webhook: Client.Confirm: asked for %s, got %s: %w", id, p.ID, payments.ErrWrongPayment)
	case p.Status != payments.StatusComplete:
		return payments.Payment{}, fmt.Errorf("webhook: Client.Confirm: %s: %w", id, payments.ErrNotComplete)
	}
	return p, nil
}

// handOver gives the Sink a whole budget from now on, whatever the confirm has used:
// the service may not deliver again, so this is no time to give up early.
func (h *Handler) handOver(ctx context.Context, p payments.Payment) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.cfg.Budget)
	defer cancel()
	err := safecall.Do("webhook: Sink.Accept", func() error { return h.cfg.Sink.Accept(ctx, p) })
	if err == nil {
		return nil
	}
	err = fmt.Errorf("webhook: payment %s is confirmed, but Sink.Accept: %w", p.ID, err)
	h.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: a confirmed payment was not handed over",
		append([]slog.Attr{slog.String("payment_id", p.ID.String())}, safecall.Attrs(err)...)...)
	if h.cfg.OnHandOverFailed != nil {
		hookErr := safecall.Do("webhook: Config.OnHandOverFailed", func() error { h.cfg.OnHandOverFailed(p, err); return nil })
		if hookErr != nil {
			h.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: webhook hook failed", safecall.Attrs(hookErr)...)
		}
	}
	return err
}
