package mockserver

import (
	"cmp"
	"fmt"
	"slices"
)

// Unmatched is a deposit that only a person can assign.
type Unmatched struct {
	// Notification is the upload that reported it; its ID names the deposit.
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

// resolve is [Server.ResolveUnmatched].
func (f *phone) resolve(id, payToken string, amount int64) (*payment, *Error) {
	i, problem := f.findUnmatched(id)
	if problem != nil {
		return nil, problem
	}
	u := f.unmatched[i]
	switch {
	case amount < 0:
		return nil, invalidParameter("amount", "must be at least 1, or left out for what the notification says")
	case amount == 0 && u.Amount == 0:
		return nil, invalidParameter("amount", "is required: the notification does not say readably how much was paid")
	case amount != 0 && u.Amount != 0 && amount != u.Amount:
		return nil, invalidParameter("amount", fmt.Sprintf("must be left out or %d: that is what the notification says was paid", u.Amount))
	}
	paid := &upload{} // stands in for a notification that was dropped
	if kept := f.byID[id]; kept != nil {
		paid = kept
	}
	p, problem := f.pay(paid, payToken, u.Payer, cmp.Or(amount, u.Amount))
	if problem != nil {
		return nil, problem
	}
	f.unmatched = slices.Delete(f.unmatched, i, i+1)
	f.changes.note()
	return p, nil
}

// dismiss is [Server.DismissUnmatched].
func (f *phone) dismiss(id string) *Error {
	i, problem := f.findUnmatched(id)
	if problem != nil {
		return problem
	}
	f.unmatched = slices.Delete(f.unmatched, i, i+1)
	if u := f.byID[id]; u != nil {
		u.Result, u.reason = ResultDismissed, ""
	}
	f.changes.note()
	return nil
}

func (f *phone) findUnmatched(id string) (int, *Error) {
	i := slices.IndexFunc(f.unmatched, func(u *Unmatched) bool { return u.Notification.ID == id })
	if i < 0 {
		return 0, &Error{Code: CodeUnmatchedNotFound, Message: "no unmatched deposit has this deposit_id; " +
			"it was resolved, dismissed or forgotten, or never was one: look at the list"}
	}
	return i, nil
}

// addUnmatched adds a deposit to the list. At the cap it drops the oldest one and logs it.
func (f *phone) addUnmatched(u *Unmatched) {
	if len(f.unmatched) >= f.cfg.MaxRequests {
		f.dropped++
		if powerOfTen(f.dropped) {
			f.cfg.Logger.Warn("mockserver: the oldest unmatched deposit was dropped; resolve or dismiss them, or raise Config.MaxRequests. "+
				"The next warning comes when ten times as many were dropped", "deposit_id", f.unmatched[0].Notification.ID, "dropped", f.dropped)
		}
		f.unmatched = slices.Delete(f.unmatched, 0, 1)
	}
	f.unmatched = append(f.unmatched, u)
	f.changes.note()
}

// powerOfTen keeps the log from growing with every drop.
func powerOfTen(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
