package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// officeRoutes are the pages of the shopkeeper, all but the first behind the password.
func (s *shop) officeRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /office/login", s.page(s.showLogin))
	mux.HandleFunc("POST /office/login", s.page(s.login))
	mux.HandleFunc("POST /office/logout", s.page(s.logout))
	mux.HandleFunc("GET /office", s.inside(s.showOffice))
	mux.HandleFunc("GET /office/orders/{id}", s.inside(s.showOfficeOrder))
	mux.HandleFunc("POST /office/orders/{id}/sent", s.inside(s.markSent))
	mux.HandleFunc("GET /office/review", s.inside(s.showReview))
	mux.HandleFunc("POST /office/review", s.inside(s.decide))
	mux.HandleFunc("GET /office/failed", s.inside(s.showFailed))
	mux.HandleFunc("POST /office/failed", s.inside(s.decideFailed))
	mux.HandleFunc("GET /office/owed", s.inside(s.showOwed))
	mux.HandleFunc("POST /office/owed", s.inside(s.markReturned))
	mux.HandleFunc("GET /office/books", s.inside(s.showBooks))
	mux.HandleFunc("POST /office/books", s.inside(s.reconcile))
	mux.HandleFunc("POST /office/losses", s.inside(s.settleLoss))
}

// insider shows a page to the actor who is signed in.
type insider func(w http.ResponseWriter, r *http.Request, actor string) error

func (s *shop) inside(show insider) http.HandlerFunc {
	return s.page(func(w http.ResponseWriter, r *http.Request) error {
		actor := s.guard.actor(r)
		if actor == "" {
			http.Redirect(w, r, "/office/login", http.StatusSeeOther)
			return nil
		}
		return show(w, r, actor)
	})
}

func (s *shop) officeView(r *http.Request, name, actor string, data any) *view {
	v := s.view(r, name, "office")
	v.Office, v.Data = actor, data
	if r.Method != http.MethodGet {
		v.Path = "/office"
	}
	return v
}

// decision is who decides, and why: the ledger keeps both for ever.
func decision(r *http.Request, actor string) (inbox.Decision, error) {
	d := inbox.Decision{Actor: actor, Reason: plain(strings.TrimSpace(r.PostFormValue("reason")))}
	if d.Reason == "" {
		return d, errBadForm
	}
	return d, nil
}

// outdated is for decisions that somebody else has taken meanwhile.
func outdated(err error) error {
	if errors.Is(err, inbox.ErrStage) || errors.Is(err, inbox.ErrNotFound) {
		return errOutdated
	}
	return err
}

// owedPage bounds what one page shows; the rest follows as the money is sent.
const owedPage = 200

// Each has an index of its own, so that years of returned money cost nothing.
const (
	selectOwed     = selectDeposit + ` WHERE give_back > 0 AND returned_at = 0 ORDER BY verified_at, payment LIMIT $1`
	selectReturned = selectDeposit + ` WHERE give_back > 0 AND returned_at > 0 ORDER BY returned_at DESC, payment LIMIT $1`
)

// showOwed lists the money that customers are to get back, the oldest first, and then what
// they have got, the newest first.
func (s *shop) showOwed(w http.ResponseWriter, r *http.Request, actor string) error {
	owed, err := all(r.Context(), s.db.read, scanDeposit, selectOwed, owedPage)
	if err != nil {
		return err
	}
	returned, err := all(r.Context(), s.db.read, scanDeposit, selectReturned, owedPage-len(owed))
	if err != nil {
		return err
	}
	s.render(w, http.StatusOK, s.officeView(r, "owed", actor, append(owed, returned...)))
	return nil
}

// markReturned notes that the shopkeeper has sent the money back by the bank: the sum that
// the page showed, which the handler may have changed since.
func (s *shop) markReturned(w http.ResponseWriter, r *http.Request, actor string) error {
	won, err := wonOf(r)
	if err != nil {
		return err
	}
	result, err := s.db.write.ExecContext(r.Context(),
		`UPDATE deposits SET returned_at = $2, returned_by = $3 WHERE payment = $1 AND give_back > 0 AND give_back = $4 AND returned_at = 0`,
		r.PostFormValue("payment"), s.now().Unix(), actor, won)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errOutdated)
	}
	http.Redirect(w, r, "/office/owed", http.StatusSeeOther)
	return nil
}
