package mockserver

import (
	"bytes"
	"encoding/json"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashPayment is the page of one payment.
func (s *Server) dashPayment(c *dashCall) (any, *Error) {
	events, problem := asProblem(s.Timeline(c.id))
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.book.find(c.id)
	if problem != nil {
		return nil, problem
	}
	out := p.export()
	view := web.DashPayment{
		DashRow: s.dashRow(p),
		Icon:    s.log.redact(out.Icon), Method: out.Method, GameProduct: out.GameProduct,
		Fixed: out.Amount, PayerAmount: out.PayerAmount, PaidAmount: out.PaidAmount, Completions: out.Completions,
		Deposited: out.DepositedAt, Verified: out.VerifiedAt, Expires: out.ExpiresAt,
		Checkout: checkoutRoot + "/" + p.ID, Record: s.dashRecord(p),
		CanName: p.unpaid(), CanPay: p.unpaid() || p.Status == StatusExpired && s.cfg.LateDeposit,
		CanResend:  p.Status == StatusProgress && p.app.WebhookURL != "" || p.Status == StatusComplete,
		CanDeliver: p.delivery != nil && p.delivery.next != nil,
	}
	for _, i := range out.Items {
		view.Items = append(view.Items, web.DashItem{Name: s.log.redact(i.Name), Price: i.Price, Count: i.Count})
	}
	for _, e := range events {
		view.Timeline = append(view.Timeline, web.DashEvent{At: e.At, Kind: string(e.Kind), Text: e.Text})
	}
	if p.delivery != nil {
		d := s.dashDelivery(p.delivery)
		view.Webhook = &d
	}
	return view, nil
}

// dashRecord is the record as the API shows it, set out for people.
func (s *Server) dashRecord(p *payment) string {
	var b bytes.Buffer
	if err := json.Indent(&b, p.appendRecord(nil), "", "  "); err != nil {
		panic("mockserver: " + err.Error()) // a record is well-formed JSON
	}
	return s.log.redact(b.String())
}

// doPay is the deposit for a payment.
func (s *Server) doPay(c *dashCall) (dashDone, *Error) {
	in := depositInput{payer: c.value("payer"), method: c.value("method")}
	amount, given, problem := c.whole("amount")
	if problem != nil {
		return dashDone{}, problem
	}
	if given {
		in.amount = &amount
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, problem = s.book.recognize(c.id, in)
	return dashDone{said: "paid"}, problem
}

// doPayer is the customer who enters a name.
func (s *Server) doPayer(c *dashCall) (dashDone, *Error) {
	amount, _, problem := c.whole("amount")
	if problem == nil {
		_, problem = asProblem(s.GivePayer(c.id, c.value("payer"), amount))
	}
	return dashDone{said: "payer"}, problem
}

// doResend sends the webhook of a payment again.
func (s *Server) doResend(c *dashCall) (dashDone, *Error) {
	done := dashDone{said: "resent"}
	if p, ok := s.Payment(c.id); ok && p.Status == StatusComplete {
		done.said = "settled" // interface §6.5: nothing is sent
	}
	return done, problemIn(s.Resend(c.id))
}

// doDeliver sends the waiting attempt of a payment at once.
func (s *Server) doDeliver(c *dashCall) (dashDone, *Error) {
	return dashDone{said: "delivering"}, problemIn(s.DeliverNow(c.id))
}
