package mockserver

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameLength is the longest name of a person, an application or a bank, in
// characters.
const maxNameLength = 40

// Account is the bank account that customers pay into.
type Account struct {
	// Bank is the display name of the bank. Default: "Mock Bank", which a Korean page
	// calls "모의 은행".
	Bank string
	// Number is the account number as people write it. Default: "000-1234-5678".
	Number string
	// Holder is who the account belongs to. Default: "Mock Service", which a Korean page
	// calls "모의 서비스".
	Holder string
}

var defaultAccount = Account{Bank: "Mock Bank", Number: "000-1234-5678", Holder: "Mock Service"}

func (a Account) check() error {
	for field, text := range map[string]string{"Bank": a.Bank, "Number": a.Number, "Holder": a.Holder} {
		if _, err := checkName(text, maxNameLength); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return nil
}

// Account is the account that the checkout page shows, the same for all payments.
func (s *Server) Account() Account { return s.cfg.Account }

// GivePayer is what the customer enters on the checkout page (interface §1.2): the
// name that the bank will show for the deposit, and the amount when the payment
// has no fixed price. The payment goes from CREATED to WAITING; while it waits,
// another call corrects both.
//
// The name has 1 to 40 characters, without control characters; spaces around it
// are cut off. The amount is at least 1, and it must be 0 for a payment with a
// fixed price. The error is an [*Error]: [CodePaymentNotFound],
// [CodeInvalidParameter], [CodePaymentAlreadyPaid], [CodePaymentExpired],
// [CodeStorageFull] or [CodeServerClosed].
func (s *Server) GivePayer(payToken, payer string, amount int64) (Payment, error) {
	p, problem := s.givePayer(payToken, payer, amount)
	if problem != nil {
		return Payment{}, problem
	}
	return p, nil
}

func (s *Server) givePayer(payToken, payer string, amount int64) (Payment, *Error) {
	name, err := checkName(payer, maxNameLength)
	if err != nil {
		return Payment{}, invalidParameter("payer", err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Payment{}, serverClosed()
	}
	s.expire()
	p, problem := s.anyPayment(payToken)
	if problem != nil {
		return Payment{}, problem
	}
	switch {
	case !p.unpaid():
		return Payment{}, notAwaited(p)
	case p.Amount != 0 && amount != 0:
		return Payment{}, invalidParameter("amount", "must be left out: this payment has a fixed price")
	case p.Amount == 0 && amount < 1:
		return Payment{}, invalidParameter("amount", "must be at least 1: the payment was created without one, so the payer chooses")
	}
	if problem := s.namePayer(p, name); problem != nil {
		return Payment{}, problem
	}
	p.PayerAmount = amount
	p.Status = StatusWaiting
	s.expectPayer(p)
	s.record(p, EventPayer, fmt.Sprintf("%s will pay %d", name, p.AmountDue()))
	return p.export(), nil
}

// checkName cuts the spaces off a name that people type and other people read.
func checkName(name string, longest int) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("is required: send a text that is not blank")
	case !utf8.ValidString(name):
		return "", errors.New("must be valid UTF-8")
	case utf8.RuneCountInString(name) > longest:
		return "", fmt.Errorf("must be at most %d characters long", longest)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("must not hold control characters")
	}
	return name, nil
}
