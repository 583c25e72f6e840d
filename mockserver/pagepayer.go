package mockserver

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// payerEntry is what a customer typed into the form of the checkout page, with error
// messages in the customer's language.
type payerEntry struct {
	name, typedAmount      string
	amount                 int64
	nameError, amountError string
}

func (e payerEntry) wrong() bool { return e.nameError != "" || e.amountError != "" }

// enteredBefore is the payer that the payment has already.
func enteredBefore(p paymentView) payerEntry {
	e := payerEntry{name: p.Payer}
	if p.PayerAmount > 0 {
		e.typedAmount = strconv.FormatInt(p.PayerAmount, 10)
	}
	return e
}

// readPayer reads the form for a payment and checks each field.
func (v *visit) readPayer(p paymentView) payerEntry {
	e := payerEntry{name: v.value("payer"), typedAmount: v.value("amount")}
	_, err := checkName(e.name, maxNameLength)
	switch {
	case e.name == "":
		e.nameError = v.t("checkout.payer.missing")
	case utf8.RuneCountInString(e.name) > maxNameLength:
		e.nameError = v.t("checkout.payer.long", strconv.Itoa(maxNameLength))
	case err != nil:
		e.nameError = v.t("checkout.payer.invalid")
	}
	if p.Amount != 0 {
		return e
	}
	var ok bool
	switch e.amount, ok = readAmount(e.typedAmount); {
	case e.typedAmount == "":
		e.amountError = v.t("checkout.amount.missing")
	case !ok:
		e.amountError = v.t("checkout.amount.invalid")
	}
	return e
}

// amountWords removes what people write around the digits of an amount.
var amountWords = strings.NewReplacer(",", "", " ", "", "\u00a0", "", "₩", "", "￦", "", "원", "")

// readAmount reads a whole amount of at least 1 as people write it.
func readAmount(typed string) (int64, bool) {
	digits := amountWords.Replace(typed)
	if strings.Trim(digits, "0123456789") != "" {
		return 0, false // as in -1 or +1
	}
	amount, err := strconv.ParseInt(digits, 10, 64)
	return amount, err == nil && amount >= 1
}

func (v *visit) payerForm(p paymentView, e payerEntry) *web.PayerForm {
	form := &web.PayerForm{
		Action: checkoutRoot + "/" + p.ID,
		Payer: web.Field{
			ID: "payer", Label: v.t("checkout.payer.label"), Hint: v.t("checkout.payer.hint"),
			Value: e.name, Error: e.nameError, Autocomplete: "name", Required: true,
		},
	}
	if p.Amount == 0 {
		form.Amount = &web.Field{
			ID: "amount", Label: v.t("checkout.amount.label"), Hint: v.t("checkout.amount.hint"),
			Value: e.typedAmount, Error: e.amountError, Mode: "numeric", Required: true,
		}
	}
	if p.Status == StatusWaiting {
		form.Back = form.Action
	}
	return form
}
