package mockserver

import (
	"cmp"
	"fmt"
	"unicode/utf8"
)

// MethodCulture is the gift-voucher method. The field has seen it with a
// paid_amount of 0: a voucher that failed, delivered as a completed payment.
const MethodCulture = "CULTURE"

// Deposit describes a deposit as the bank notification would. The zero Deposit
// pays the payment's own price.
type Deposit struct {
	// Payer is the name of the person who paid. Default: anyone who was named on
	// the checkout page.
	Payer string
	// Amount is what was paid, a whole number of the currency's unit, at least
	// 1. It may differ from a fixed price: the record then shows what was paid.
	// 0 stands for the fixed price, or for what the payer said on the checkout
	// page, and is an error when there is neither.
	Amount int64
	// Method is the payment method, upper case. Default: [DefaultMethod].
	Method string
	// Failed makes a failed voucher: a payment with the method [MethodCulture]
	// and a paid_amount of 0. Amount must be 0.
	Failed bool
}

// Deposit recognises a deposit for the payment, as the mobile app would do it
// (interface §3): the payment goes to PROGRESS and, when its application has a
// webhook URI, the webhook is sent at once, without the call waiting for it. The
// error is an [*Error]: [CodePaymentNotFound], [CodePaymentAlreadyPaid],
// [CodePaymentExpired], [CodeInvalidParameter], [CodeStorageFull] or
// [CodeServerClosed].
func (s *Server) Deposit(payToken string, d Deposit) (Payment, error) {
	in := depositInput{payer: d.Payer, method: d.Method}
	if d.Amount != 0 || d.Failed {
		in.amount = &d.Amount
	}
	if d.Failed && d.Method == "" {
		in.method = MethodCulture
	}
	p, problem := s.recognise(payToken, in, func(*payment) {})
	if problem != nil {
		return Payment{}, problem
	}
	return p, nil
}

// depositInput is a deposit with the difference between no amount and 0.
type depositInput struct {
	payer, method string
	amount        *int64
}

// check completes the input against the payment and returns what was paid.
func (in *depositInput) check(p *payment) (int64, *Error) {
	if in.method == "" {
		in.method = DefaultMethod
	}
	if !validCodeWord(in.method) {
		return 0, invalidParameter("method", `must be up to 64 upper-case letters, digits or "_", as in "DEPOSIT"`)
	}
	if !utf8.ValidString(in.payer) {
		return 0, invalidParameter("payer", "must be valid UTF-8")
	}
	due := p.AmountDue()
	switch {
	case in.amount == nil && due == 0:
		return 0, invalidParameter("amount", "is required: the payment was created without one, so the payer chooses")
	case in.amount == nil:
		return due, nil
	case *in.amount == 0 && in.method == MethodCulture:
		return 0, nil
	case *in.amount <= 0:
		return 0, invalidParameter("amount", "must be at least 1 (only a failed voucher, method CULTURE, has 0)")
	}
	return *in.amount, nil
}

// recognise moves a payment to PROGRESS. render makes an answer from the payment
// before anybody else can move it on.
func (s *Server) recognise(id string, in depositInput, render func(*payment)) (Payment, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recogniseLocked(id, in, render)
}

// recogniseLocked is recognise for a caller that holds s.mu.
func (s *Server) recogniseLocked(id string, in depositInput, render func(*payment)) (Payment, *Error) {
	if s.closed {
		return Payment{}, serverClosed()
	}
	s.expire()
	p, problem := s.anyPayment(id)
	if problem != nil {
		return Payment{}, problem
	}
	if late := p.Status == StatusExpired && s.cfg.LateDeposit; !p.unpaid() && !late {
		return Payment{}, notAwaited(p)
	}
	paid, problem := in.check(p)
	if problem != nil {
		return Payment{}, problem
	}
	notify := p.app.WebhookURL != ""
	if notify && !s.roomForDelivery() {
		return Payment{}, &Error{Code: CodeStorageFull, Message: "the cap of pending webhook deliveries is reached; " +
			"raise Config.MaxDeliveries or let the clock run"}
	}
	if in.payer != "" {
		if problem := s.namePayer(p, in.payer); problem != nil {
			return Payment{}, problem
		}
	}
	p.Method, p.PaidAmount = in.method, paid
	p.Status, p.DepositedAt = StatusProgress, s.clock.now()
	p.app.push(p)
	s.record(p, EventDeposit, fmt.Sprintf("%.*s paid %d by %s", maxNameLength, cmp.Or(s.shownPayer(p), "somebody"), paid, in.method))
	if notify {
		s.beginRun(s.newDelivery(p))
	}
	render(p)
	return p.export(), nil
}

// shownPayer is the payer for a text that is cut after maxNameLength characters: no half
// of a token may be left at the cut, where nothing would know it again.
func (s *Server) shownPayer(p *payment) string {
	if len(p.Payer) <= maxNameLength {
		return p.Payer
	}
	return s.log.tokens.First(p.Payer, maxNameLength*utf8.UTFMax)
}
