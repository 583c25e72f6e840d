package mockserver

import (
	"fmt"
	"slices"
)

// UnmatchedReason says why a deposit was not given to a payment.
type UnmatchedReason string

// The reasons.
const (
	// ReasonNoMatch: no payment waits for this payer.
	ReasonNoMatch UnmatchedReason = "NO_MATCH"
	// ReasonSeveral: several payments wait for this payer and this amount.
	ReasonSeveral UnmatchedReason = "SEVERAL"
	// ReasonAmountDiffers: payments wait for this payer, but none for this amount.
	ReasonAmountDiffers UnmatchedReason = "AMOUNT_DIFFERS"
	// ReasonNotReadable: the text tells of a deposit and leaves open how much was
	// paid or by whom.
	ReasonNotReadable UnmatchedReason = "NOT_READABLE"
)

// Unmatched is a deposit that nobody but a person can assign.
type Unmatched struct {
	// Notification is the upload that told of it; its ID names the deposit.
	Notification Notification
	// Reason is why it was not assigned.
	Reason UnmatchedReason
	// Payer and Amount are what the notification says; empty and 0 where it
	// cannot be read.
	Payer  string
	Amount int64
	// Candidates are the payTokens that come close, at most 10, in the order in
	// which their customers gave the name: those of the payer and the amount
	// ([ReasonSeveral]), or those of the payer ([ReasonAmountDiffers]), as it was
	// when the notification came.
	Candidates []string
}

// Unmatched returns the deposits that wait for a person, oldest first, at most
// [Config.MaxRequests]. When the oldest is dropped at that cap, the server's log says
// so, of the first, the tenth, the hundredth and so on.
func (s *Server) Unmatched() []Unmatched {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Unmatched, len(s.phone.unmatched))
	for i, u := range s.phone.unmatched {
		list[i] = *u
		list[i].Candidates = slices.Clone(u.Candidates)
	}
	return list
}

// ResolveUnmatched gives an unmatched deposit to a payment, which goes to PROGRESS
// as after [Server.Deposit]; what was paid is what the notification says, also if
// another amount was due. An amount of 0 stands for that. It is an error when the
// notification's amount is not readable, so that it must be given, and when another
// one is given than the notification's.
//
// id is [Notification.ID], and the payment may be of any application. The error is
// an [*Error]: [CodeUnmatchedNotFound], [CodeInvalidParameter], or one of
// [Server.Deposit]; the deposit then stays unmatched.
func (s *Server) ResolveUnmatched(id, payToken string, amount int64) (Payment, error) {
	p, problem := s.resolveUnmatched(id, payToken, amount, func(*payment) {})
	if problem != nil {
		return Payment{}, problem
	}
	return p, nil
}

func (s *Server) resolveUnmatched(id, payToken string, amount int64, render func(*payment)) (Payment, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, problem := s.findUnmatched(id)
	if problem != nil {
		return Payment{}, problem
	}
	u := s.phone.unmatched[i]
	switch {
	case amount < 0:
		return Payment{}, invalidParameter("amount", "must be at least 1, or left out for what the notification says")
	case amount == 0 && u.Amount == 0:
		return Payment{}, invalidParameter("amount", "is required: the notification does not say readably how much was paid")
	case amount != 0 && u.Amount != 0 && amount != u.Amount:
		return Payment{}, invalidParameter("amount", fmt.Sprintf("must be left out or %d: that is what the notification says was paid", u.Amount))
	}
	if amount == 0 {
		amount = u.Amount
	}
	paid := &upload{} // stands in for a notification that is not kept any more
	if kept := s.phone.byID[id]; kept != nil {
		paid = kept
	}
	if problem := s.pay(paid, payToken, u.Payer, amount); problem != nil {
		return Payment{}, problem
	}
	s.phone.unmatched = slices.Delete(s.phone.unmatched, i, i+1)
	s.changed()
	p := s.payments[payToken]
	render(p)
	return p.export(), nil
}

// DismissUnmatched takes a deposit off the list of the unmatched without a payment.
// The error is an [*Error] with [CodeUnmatchedNotFound].
func (s *Server) DismissUnmatched(id string) error {
	if problem := s.dismissUnmatched(id); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) dismissUnmatched(id string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, problem := s.findUnmatched(id)
	if problem != nil {
		return problem
	}
	s.phone.unmatched = slices.Delete(s.phone.unmatched, i, i+1)
	if u := s.phone.byID[id]; u != nil {
		u.Result, u.reason = ResultDismissed, ""
	}
	s.changed()
	return nil
}

func (s *Server) findUnmatched(id string) (int, *Error) {
	i := slices.IndexFunc(s.phone.unmatched, func(u *Unmatched) bool { return u.Notification.ID == id })
	if i < 0 {
		return 0, &Error{Code: CodeUnmatchedNotFound, Message: "no unmatched deposit has this deposit_id; " +
			"it was resolved, dismissed or forgotten, or never was one: look at the list"}
	}
	return i, nil
}

// addUnmatched puts a deposit on the list, and says so if another must go for it.
func (s *Server) addUnmatched(u *Unmatched) {
	f := &s.phone
	if len(f.unmatched) >= s.cfg.MaxRequests {
		f.dropped++
		if powerOfTen(f.dropped) {
			s.cfg.Logger.Warn("mockserver: the oldest unmatched deposit was dropped; resolve or dismiss them, or raise Config.MaxRequests. "+
				"The next warning comes when ten times as many were dropped", "deposit_id", f.unmatched[0].Notification.ID, "dropped", f.dropped)
		}
		f.unmatched = slices.Delete(f.unmatched, 0, 1)
	}
	f.unmatched = append(f.unmatched, u)
	s.changed()
}

// powerOfTen bounds a log that would otherwise grow with every drop.
func powerOfTen(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
