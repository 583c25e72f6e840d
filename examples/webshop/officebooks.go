package main

import (
	"errors"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// stageCount is how many payments stand in a stage.
type stageCount struct {
	Stage string
	N     int64
	More  bool // the ledger counts no further
}

// booksView is the state of the ledger and of the last comparison with the service.
type booksView struct {
	Stages      []stageCount
	OldestReady time.Duration
	Report      inbox.Report
	HasReport   bool
	Stock       []onShelf
}

func (s *shop) showBooks(w http.ResponseWriter, r *http.Request, actor string) error {
	status, err := s.box.Status(r.Context())
	if err != nil {
		return err
	}
	data := booksView{OldestReady: status.OldestReady.Round(time.Second)}
	for stage := inbox.StageExpected; stage <= inbox.StageDead; stage++ {
		data.Stages = append(data.Stages, stageCount{"stage." + stage.String(), status.Count[stage], status.Count[stage] == inbox.CountLimit})
	}
	data.Report, err = s.box.LastReport(r.Context())
	if err != nil && !errors.Is(err, inbox.ErrNoReport) {
		return err
	}
	data.HasReport = err == nil
	left, err := s.stock(r.Context())
	if err != nil {
		return err
	}
	for _, p := range catalogue {
		data.Stock = append(data.Stock, onShelf{p, left[p.ID]})
	}
	s.render(w, http.StatusOK, s.officeView(r, "books", actor, data))
	return nil
}

// reconcile asks the service about every open payment now.
func (s *shop) reconcile(w http.ResponseWriter, r *http.Request, _ string) error {
	if _, err := s.reconcileNow(w, r); err != nil {
		return err
	}
	http.Redirect(w, r, "/office/books", http.StatusSeeOther)
	return nil
}

// settleLoss takes a possible loss off the report, after somebody has compared the books.
func (s *shop) settleLoss(w http.ResponseWriter, r *http.Request, actor string) error {
	by, err := decision(r, actor)
	if err == nil {
		err = s.box.SettleLoss(r.Context(), r.PostFormValue("loss"), by)
	}
	if err != nil {
		return outdated(err)
	}
	if _, err := s.reconcileNow(w, r); err != nil { // makes a report without it
		return err
	}
	http.Redirect(w, r, "/office/books", http.StatusSeeOther)
	return nil
}

// reconcileFor bounds a reconciliation from the page: the service is asked at most 50
// times a second, so thousands of unpaid orders take minutes.
const reconcileFor = 5 * time.Minute

func (s *shop) reconcileNow(w http.ResponseWriter, r *http.Request) (inbox.Report, error) {
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reconcileFor)); err != nil {
		return inbox.Report{}, err
	}
	return s.box.Reconcile(r.Context())
}
