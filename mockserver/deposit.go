package mockserver

import (
	"cmp"
	"fmt"
	"unicode/utf8"
)

// MethodCulture is the gift-voucher method. Live deployments have sent it with a
// paid_amount of 0: a voucher that failed, delivered as a completed payment.
const MethodCulture = "CULTURE"

// Deposit describes a deposit as the bank notification would. The zero Deposit
// pays the payment's own price.
type Deposit struct {
	// Payer is the name of the person who paid. Default: the name given on
	// the checkout page.
	Payer string
	// Amount is what was paid, a whole number of the currency's unit, at least
	// 1. It may differ from a fixed price: the record then shows what was paid.
	// 0 means the fixed price, or the amount that the payer gave on the checkout
	// page, and is an error when there is neither.
	Amount int64
	// Method is the payment method, upper case. Default: [DefaultMethod].
	Method string
	// Failed makes a failed voucher: a payment with the method [MethodCulture]
	// and a paid_amount of 0. Amount must be 0.
	Failed bool
}

// depositInput is a deposit that distinguishes no amount from an amount of 0.
type depositInput struct {
	payer, method string
	amount        *int64
}

func (d *Deposit) input() depositInput {
	in := depositInput{payer: d.Payer, method: d.Method}
	if d.Amount != 0 || d.Failed {
		in.amount = &d.Amount
	}
	if d.Failed && d.Method == "" {
		in.method = MethodCulture
	}
	return in
}

// check completes the input from the payment and returns how much was paid.
func (in *depositInput) check(p *payment) (int64, *Error) {
	in.method = cmp.Or(in.method, DefaultMethod)
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

// recognize moves a payment to PROGRESS and has its webhook sent.
func (b *book) recognize(id string, in depositInput) (*payment, *Error) {
	if b.timers.closed {
		return nil, serverClosed()
	}
	p, problem := b.find(id)
	if problem != nil {
		return nil, problem
	}
	if late := p.Status == StatusExpired && b.cfg.LateDeposit; !p.unpaid() && !late {
		return nil, notAwaited(p)
	}
	paid, problem := in.check(p)
	if problem != nil {
		return nil, problem
	}
	notify := p.app.WebhookURL != ""
	if notify {
		if problem := b.webhooks.makeRoom(); problem != nil {
			return nil, problem
		}
	}
	if in.payer != "" {
		if problem := b.setPayer(p, in.payer); problem != nil {
			return nil, problem
		}
	}
	p.Method, p.PaidAmount = in.method, paid
	p.Status, p.DepositedAt = StatusProgress, b.clock.now()
	p.app.push(p)
	payer := cmp.Or(b.shownPayer(p), "somebody")
	b.record(p, EventDeposit, fmt.Sprintf("%.*s paid %d by %s", maxNameLength, payer, paid, in.method))
	if notify {
		b.webhooks.notify(p)
	}
	return p, nil
}

// givePayer is [Server.GivePayer].
func (b *book) givePayer(id, payer string, amount int64) (*payment, *Error) {
	name, err := checkName(payer, maxNameLength)
	if err != nil {
		return nil, invalidParameter("payer", err.Error())
	}
	if b.timers.closed {
		return nil, serverClosed()
	}
	p, problem := b.find(id)
	switch {
	case problem != nil:
		return nil, problem
	case !p.unpaid():
		return nil, notAwaited(p)
	case p.Amount != 0 && amount != 0:
		return nil, invalidParameter("amount", "must be left out: this payment has a fixed price")
	case p.Amount == 0 && amount < 1:
		return nil, invalidParameter("amount", "must be at least 1: the payment was created without one, so the payer chooses")
	}
	if problem := b.setPayer(p, name); problem != nil {
		return nil, problem
	}
	p.PayerAmount, p.Status = amount, StatusWaiting
	b.payers.add(p, b.awaitsDeposit)
	b.record(p, EventPayer, fmt.Sprintf("%s will pay %d", name, p.AmountDue()))
	return p, nil
}

// setPayer stores the payer's name, within the cap of all texts.
func (b *book) setPayer(p *payment, name string) *Error {
	grown := max(0, len(name)-len(p.Payer))
	if b.bytes+grown > maxStoredBytes {
		return b.full()
	}
	b.bytes += grown
	p.Payer = name
	return nil
}

// awaitsDeposit reports whether a notification may pay a payment whose payer is known.
func (b *book) awaitsDeposit(p *payment) bool {
	return p.Status == StatusWaiting || p.Status == StatusExpired && b.cfg.LateDeposit
}

// notAwaited says why a payment accepts no deposit and no payer any more.
func notAwaited(p *payment) *Error {
	if p.Status == StatusExpired {
		return &Error{Code: CodePaymentExpired, Message: "nobody paid this payment in time, so it has expired; " +
			"create another payment (Config.LateDeposit would take a late deposit)"}
	}
	return &Error{Code: CodePaymentAlreadyPaid, Message: "a deposit for this payment was recognized before; " +
		"create another payment"}
}
