package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/depositpay/depositpay-go/inbox"
)

// heldView is a payment that waits for a person, next to the order it may be for.
type heldView struct {
	inbox.Entry
	Order    order
	HasOrder bool
	OnBooks  bool            // its money is to go back: somebody has begun to reject it
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

// CanApprove: what cannot be read, has no id, belongs to no order that waits for money or
// is no whole number of won cannot be granted.
func (h heldView) CanApprove() bool {
	_, whole := h.Payment.PaidAmount.Int64()
	return h.HasOrder && h.Order.Status == open && whole && h.Names() && !h.OnBooks
}

// Names reports whether it is known which payment it is.
func (h heldView) Names() bool { return names(h.Entry) }

// Late is the key of the text that says why the order takes no money; empty if it does.
func (h heldView) Late() string {
	return map[string]string{paid: "why." + paidTwice, cancelled: "why." + afterCancel, soldOut: "why." + soldOut}[h.Order.Status]
}

// Won is what was paid.
func (h heldView) Won() int64 { return whole(h.Payment.PaidAmount) }

// heldPage bounds what one page shows; the rest follows as these are decided.
const heldPage = 50

// review reads the payments in review with all that a person needs to decide.
func (s *shop) review(ctx context.Context) ([]heldView, error) {
	var found []heldView
	for e, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}, Limit: heldPage}) {
		if err != nil {
			return nil, err
		}
		h, err := s.complete(ctx, heldView{Entry: e})
		if err != nil {
			return nil, err
		}
		found = append(found, h)
	}
	return found, nil
}

func (s *shop) complete(ctx context.Context, h heldView) (heldView, error) {
	o, err := s.orderByID(ctx, h.Payment.Identifier)
	if err != nil && !errors.Is(err, errNotFound) {
		return h, err
	}
	h.Order, h.HasOrder = o, err == nil
	if _, h.OnBooks, err = lineOf(ctx, s.db.read, h.Key); err != nil {
		return h, err
	}
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
	found, err := s.review(r.Context())
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
		err = s.reject(w, r, key, by)
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
	if h.Late() != "" || h.OnBooks {
		return errOutdated
	}
	if !h.CanApprove() {
		return errBadForm
	}
	return s.box.Approve(ctx, key, by)
}

func (s *shop) showFailed(w http.ResponseWriter, r *http.Request, actor string) error {
	found, err := s.failed(r.Context())
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
		err = s.runAgain(r.Context(), key, by)
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
