package mockserver

import (
	"strings"
	"unicode/utf8"
)

// MethodCulture is the gift-voucher method. The field has seen it with a
// paid_amount of 0: a voucher that failed, delivered as a completed payment.
const MethodCulture = "CULTURE"

// Deposit describes a deposit as the bank notification would. The zero Deposit
// pays the payment's own price.
type Deposit struct {
	// Payer is the name of the person who paid. Default: none.
	Payer string
	// Amount is what was paid, a whole number of the currency's unit, at least
	// 1. It may differ from a fixed price: the record then shows what was paid.
	// 0 stands for the fixed price, and is an error when there is none.
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
// [CodeInvalidParameter], [CodeStorageFull] or [CodeServerClosed].
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
	if !validMethod(in.method) {
		return 0, invalidParameter("method", `must be up to 64 upper-case letters, digits or "_", as in "DEPOSIT"`)
	}
	if !utf8.ValidString(in.payer) {
		return 0, invalidParameter("payer", "must be valid UTF-8")
	}
	switch {
	case p.Status != StatusCreated && p.Status != StatusWaiting:
		return 0, &Error{Code: CodePaymentAlreadyPaid, Message: "a deposit for this payment was recognised before; " +
			"create another payment"}
	case in.amount == nil && p.Amount == 0:
		return 0, invalidParameter("amount", "is required: the payment was created without one, so the payer chooses")
	case in.amount == nil:
		return p.Amount, nil
	case *in.amount == 0 && in.method == MethodCulture:
		return 0, nil
	case *in.amount <= 0:
		return 0, invalidParameter("amount", "must be at least 1 (only a failed voucher, method CULTURE, has 0)")
	}
	return *in.amount, nil
}

func validMethod(method string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return len(method) <= 64 && strings.Trim(method, allowed) == ""
}

// recognise moves a payment to PROGRESS. render makes an answer from the payment
// before anybody else can move it on.
func (s *Server) recognise(id string, in depositInput, render func(*payment)) (Payment, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Payment{}, serverClosed()
	}
	p := s.payments[id]
	if p == nil {
		return Payment{}, paymentNotFound()
	}
	paid, problem := in.check(p)
	if problem != nil {
		return Payment{}, problem
	}
	notify := p.app.webhookURL != ""
	if notify && !s.roomForDelivery() {
		return Payment{}, &Error{Code: CodeStorageFull, Message: "the cap of pending webhook deliveries is reached; " +
			"raise Config.MaxDeliveries or let the clock run"}
	}
	p.Payer, p.Method, p.PaidAmount = in.payer, in.method, paid
	p.Status, p.DepositedAt = StatusProgress, s.clock.now()
	p.app.push(p)
	if notify {
		s.beginRun(s.newDelivery(p))
	}
	render(p)
	return p.Payment, nil
}
