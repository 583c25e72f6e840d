package mockserver

import (
	"slices"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// maxDashWaiting is how many waiting payments the phone's page offers.
const maxDashWaiting = 5

// dashPhone is the page of the phone with the bank's app.
func (s *Server) dashPhone(*dashCall) (any, *Error) {
	view := web.DashPhone{Banks: dashBanks()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire()
	for _, p := range slices.Backward(s.book.list[max(0, len(s.book.list)-dashScan):]) {
		if p.Status == StatusWaiting && len(view.Waiting) < maxDashWaiting {
			view.Waiting = append(view.Waiting, s.dashRow(p))
		}
	}
	for _, u := range slices.Backward(s.phone.uploads[max(0, len(s.phone.uploads)-dashPageSize):]) {
		n := s.dashNotification(u.Notification)
		n.Reason = string(u.reason)
		view.Recent = append(view.Recent, n)
	}
	return view, nil
}

func dashBanks() []web.DashBank {
	list := make([]web.DashBank, len(bankList))
	for i, b := range bankList {
		list[i] = web.DashBank{Name: b.name, Package: b.pkg}
	}
	return list
}

func bankName(pkg string) string {
	for _, b := range bankList {
		if b.pkg == pkg {
			return b.name
		}
	}
	return pkg
}

func (s *Server) dashNotification(n Notification) web.DashNotification {
	return web.DashNotification{
		ID: n.ID, Bank: bankName(n.Package), Package: n.Package,
		Title: s.log.redact(n.Title), Subtitle: s.log.redact(n.Subtitle), Text: s.log.redact(n.Text),
		Received: n.ReceivedAt, Result: string(n.Result), PaymentID: n.PaymentID,
	}
}

// doNotify plays a bank that reports a deposit.
func (s *Server) doNotify(c *dashCall) (dashDone, *Error) {
	amount, _, problem := c.whole("amount")
	if problem != nil {
		return dashDone{}, problem
	}
	n, err := s.SendNotification(c.value("package"), c.value("payer"), amount)
	if err != nil {
		return dashDone{}, problemOf(err)
	}
	return dashDone{said: saidOf(n.Result)}, nil
}

// doUpload plays the phone with a notification of any wording, from any app.
func (s *Server) doUpload(c *dashCall) (dashDone, *Error) {
	n, err := playPhone(s, Notification{
		Package: c.value("package"), Title: c.text("title"), Subtitle: c.text("subtitle"), Text: c.text("text"),
	})
	switch {
	case err != nil:
		return dashDone{}, problemOf(err)
	case n.ID == "":
		return dashDone{said: "phone-ignored"}, nil
	}
	return dashDone{said: saidOf(n.Result)}, nil
}

// saidOf is what the page says about the fate of a notification.
func saidOf(r Result) string { return "phone-" + strings.ToLower(string(r)) }
