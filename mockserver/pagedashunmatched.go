package mockserver

import (
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashUnmatched is the list of deposits that wait for a person.
func (s *Server) dashUnmatched(c *dashCall) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire()
	list := s.phone.unmatched
	pager, from, to := web.NewPager(c.Request, len(list), dashPageSize)
	view := web.DashUnmatched{Dropped: int64(s.phone.dropped), Pager: pager}
	for _, u := range slices.Backward(list[len(list)-to : len(list)-from]) {
		n := s.dashNotification(u.Notification)
		n.Reason = string(u.Reason)
		d := web.DashDeposit{DashNotification: n, Payer: s.log.redact(u.Payer), Amount: u.Amount}
		for _, id := range u.Candidates {
			if p := s.book.byID[id]; p != nil {
				d.Candidates = append(d.Candidates, s.dashRow(p))
			}
		}
		view.Rows = append(view.Rows, d)
	}
	return view, nil
}

// doAssign gives a deposit to a payment: a candidate, or one that is typed.
func (s *Server) doAssign(c *dashCall) (dashDone, *Error) {
	amount, _, problem := c.whole("amount")
	if problem != nil {
		return dashDone{}, problem
	}
	id := c.value("other")
	if id == "" {
		id = c.value("payToken")
	}
	if id == "" {
		return dashDone{}, invalidParameter("other", "is required: choose a candidate or enter the id of a payment")
	}
	_, problem = asProblem(s.ResolveUnmatched(c.id, id, amount))
	return dashDone{to: "ui/payments/" + id, said: "assigned"}, problem
}

func (s *Server) doDismiss(c *dashCall) (dashDone, *Error) {
	return dashDone{said: "dismissed"}, problemIn(s.DismissUnmatched(c.id))
}
