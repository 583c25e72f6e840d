package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
)

// heldView is a payment that waits for a person, beside the order it may be for.
type heldView struct {
	inbox.Entry
	Order    order
	HasOrder bool
	Runs     []inbox.Receipt // of the handler, that failed
	Audit    []inbox.AuditLine
}

// Why is the key of the text that says why it waits.
func (h heldView) Why() string {
	if _, ok := texts["why."+h.Reason]; ok {
		return "why." + h.Reason
	}
	return "why.other"
}

// CanApprove: what cannot be read, has no id, belongs to no order or is no whole number of
// won cannot be granted.
func (h heldView) CanApprove() bool {
	_, whole := h.Payment.PaidAmount.Int64()
	return h.HasOrder && whole && h.Unreadable == "" && h.Payment.ID != uuid.Nil
}

// Won is what was paid.
func (h heldView) Won() int64 { return whole(h.Payment.PaidAmount) }

// heldPage bounds what one page shows; the rest follows as these are decided.
const heldPage = 50

// held reads the payments of a stage with all that a person needs to decide.
func (s *shop) held(ctx context.Context, stage inbox.Stage) ([]heldView, error) {
	var found []heldView
	for e, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{stage}}) {
		if err != nil {
			return nil, err
		}
		decided, err := s.goesBack(ctx, e)
		if err != nil {
			return nil, err
		}
		if decided {
			continue
		}
		h, err := s.complete(ctx, heldView{Entry: e})
		if err != nil {
			return nil, err
		}
		if found = append(found, h); len(found) == heldPage {
			break
		}
	}
	return found, nil
}

func (s *shop) complete(ctx context.Context, h heldView) (heldView, error) {
	o, err := s.orderByID(ctx, h.Payment.Identifier)
	if err != nil && !errors.Is(err, errNotFound) {
		return h, err
	}
	h.Order, h.HasOrder = o, err == nil
	receipts, err := s.box.Receipts(ctx, h.Key)
	if err != nil {
		return h, err
	}
	for _, r := range receipts {
		if r.Channel == 0 && r.Outcome != inbox.OutcomeReview {
			h.Runs = append(h.Runs, r)
		}
	}
	h.Audit, err = s.box.Audit(ctx, h.Key)
	return h, err
}

func (s *shop) showReview(w http.ResponseWriter, r *http.Request, actor string) error {
	found, err := s.held(r.Context(), inbox.StageReview)
	if err != nil {
		return err
	}
	s.render(w, http.StatusOK, s.officeView(r, "review", actor, found))
	return nil
}

// decide approves or rejects a payment in review.
func (s *shop) decide(w http.ResponseWriter, r *http.Request, actor string) error {
	by, err := decision(r, actor)
	if err != nil {
		return err
	}
	key := r.PostFormValue("key")
	switch r.PostFormValue("do") {
	case "approve":
		err = s.approve(r.Context(), key, by)
	case "reject":
		err = s.reject(r, key, by)
	default:
		err = errBadForm
	}
	if err != nil {
		return outdated(err)
	}
	http.Redirect(w, r, "/office/review", http.StatusSeeOther)
	return nil
}

func (s *shop) approve(ctx context.Context, key string, by inbox.Decision) error {
	e, err := s.box.Get(ctx, key)
	if err != nil {
		return err
	}
	h, err := s.complete(ctx, heldView{Entry: e})
	if err != nil {
		return err
	}
	if !h.CanApprove() {
		return errBadForm
	}
	return s.box.Approve(ctx, key, by)
}

func (s *shop) showFailed(w http.ResponseWriter, r *http.Request, actor string) error {
	found, err := s.held(r.Context(), inbox.StageDead)
	if err != nil {
		return err
	}
	s.render(w, http.StatusOK, s.officeView(r, "failed", actor, found))
	return nil
}

// decideFailed runs the handler of a payment again, or gives its money back.
func (s *shop) decideFailed(w http.ResponseWriter, r *http.Request, actor string) error {
	by, err := decision(r, actor)
	if err != nil {
		return err
	}
	key := r.PostFormValue("key")
	switch r.PostFormValue("do") {
	case "again":
		err = s.box.Retry(r.Context(), key, by)
	case "return":
		err = s.giveBack(r.Context(), key, by)
	default:
		err = errBadForm
	}
	if err != nil {
		return outdated(err)
	}
	http.Redirect(w, r, "/office/failed", http.StatusSeeOther)
	return nil
}
