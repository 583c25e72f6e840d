package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// signedIn shows a page only to people who know the password. The name that they give is recorded with
// every decision. Too many wrong passwords refuse everybody for a second.
func (s *shop) signedIn(show func(w http.ResponseWriter, r *http.Request, actor string) error) http.HandlerFunc {
	return s.page(func(w http.ResponseWriter, r *http.Request) error {
		actor, password, given := r.BasicAuth()
		actor = strings.TrimSpace(actor)
		if s.wrong.TokensAt(s.now()) < 1 {
			http.Error(w, "Too many wrong passwords. Wait a few seconds.", http.StatusTooManyRequests)
			return nil
		}
		if subtle.ConstantTimeCompare([]byte(password), []byte(s.OfficePassword)) == 1 && actor != "" {
			return show(w, r, actor)
		}
		if given {
			s.wrong.AllowN(s.now(), 1)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="back office", charset="UTF-8"`)
		http.Error(w, "The name or the password is missing or wrong.", http.StatusUnauthorized)
		return nil
	})
}

// heldView is a payment that waits for a person, next to the order that it may be for.
type heldView struct {
	inbox.Entry
	Order    order
	HasOrder bool
}

// officePage is what the page of the back office shows.
type officePage struct {
	Actor          string
	Review, Failed []heldView
	Deposits       []deposit
}

// pageSize bounds each list of the page. More payments follow as people decide.
const pageSize = 50

func (s *shop) showOffice(w http.ResponseWriter, r *http.Request, actor string) error {
	review, err := s.held(r.Context(), inbox.StageReview)
	if err != nil {
		return err
	}
	failed, err := s.held(r.Context(), inbox.StageDead)
	if err != nil {
		return err
	}
	newest := selectDeposits + ` ORDER BY verified_at DESC, payment DESC LIMIT $1`
	deposits, err := all(r.Context(), s.db.read, scanDeposit, newest, pageSize)
	if err != nil {
		return err
	}
	v := newView(r, "office", "office", officePage{actor, review, failed, deposits})
	v.Lang = english // the back office has one language
	s.render(w, http.StatusOK, v)
	return nil
}

// held reads the payments of a stage that nobody has rejected, with the orders that they name.
func (s *shop) held(ctx context.Context, stage inbox.Stage) (found []heldView, err error) {
	for e, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{stage}}) {
		if err != nil {
			return nil, err
		}
		if e.Rejected {
			continue
		}
		o, err := s.order(ctx, e.Payment.Identifier)
		if err != nil && !errors.Is(err, errNotFound) {
			return nil, err
		}
		if found = append(found, heldView{e, o, err == nil}); len(found) == pageSize {
			break
		}
	}
	return found, nil
}

// decide approves or rejects a payment in review, or retries one that grant gave up. The inbox keeps who
// decided and why. Somebody else may have decided since the page was shown: then it is outdated.
func (s *shop) decide(w http.ResponseWriter, r *http.Request, actor string) error {
	by := inbox.Decision{Actor: actor, Reason: strings.TrimSpace(r.PostFormValue("reason"))}
	decision, known := map[string]func(context.Context, string, inbox.Decision) error{
		"approve": s.box.Approve, "reject": s.box.Reject, "retry": s.box.Retry,
	}[r.PostFormValue("do")]
	if by.Reason == "" || !known {
		return errBadForm
	}
	err := decision(r.Context(), r.PostFormValue("key"), by)
	if errors.Is(err, inbox.ErrStage) {
		return errOutdated
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/office", http.StatusSeeOther)
	return nil
}
