package mockserver

import (
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// checkoutRoot is the path of the checkout pages; see [Server.CheckoutURL].
const checkoutRoot = "/pay"

// checkoutReload is the interval in seconds at which a browser without scripts reloads.
const checkoutReload = 5

func checkoutRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, checkoutRoot + "/{payToken}", (*visit).checkout},
		{http.MethodPost, checkoutRoot + "/{payToken}", (*visit).checkoutPayer},
	}
}

// checkout shows the checkout page of a payment (interface §1.2); with ?edit=1 the form, so
// that the customer can correct it.
func (v *visit) checkout() {
	p, problem := v.control.payment(v.PathValue("payToken"))
	if problem != nil {
		v.refuse(http.StatusNotFound, "checkout.unknown")
		return
	}
	var form *web.PayerForm
	if edit := v.param("edit") != ""; p.Status == StatusCreated || p.Status == StatusWaiting && edit {
		form = v.payerForm(p, enteredBefore(p))
	}
	v.showCheckout(p, form, http.StatusOK)
}

// checkoutPayer handles the form of the checkout page.
func (v *visit) checkoutPayer() {
	p, problem := v.control.payment(v.PathValue("payToken"))
	if problem != nil {
		v.refuse(http.StatusNotFound, "checkout.unknown")
		return
	}
	page := checkoutRoot + "/" + p.ID
	in := v.readPayer(p)
	if in.wrong() && p.Unpaid() {
		v.showCheckout(p, v.payerForm(p, in), http.StatusUnprocessableEntity)
		return
	}
	switch _, problem := asProblem(v.control.s.GivePayer(p.ID, in.name, in.amount)); {
	case problem == nil:
		v.goTo(page)
	case problem.Code == CodePaymentAlreadyPaid || in.wrong():
		v.failed(page, v.t("checkout.paid.already"))
	case problem.Code == CodePaymentExpired:
		v.failed(page, v.t("checkout.expired.already"))
	default:
		v.refuseWith(problem)
	}
}

func (v *visit) showCheckout(p paymentView, form *web.PayerForm, status int) {
	view := v.checkoutView(p)
	title := web.Short(view.Title, 60)
	if form != nil {
		view.Form, view.Transfer = form, nil
		if status != http.StatusOK {
			title = v.t("field.error") + " " + title
		}
	}
	page := web.Page{
		Name: "checkout", Status: status, Title: title, Data: view, Icons: view.Icons.Show && view.Icons.Has,
		Live: view.Stage != web.StageComplete && view.Stage != web.StageFailed,
	}
	if page.Live && form == nil {
		page.Reload = checkoutReload
	}
	v.show(page)
}

// checkoutView is the payment as the customer sees it.
func (v *visit) checkoutView(p paymentView) web.Checkout {
	icons := web.NewIcons(v.Request, p.Icon != "" || hasIcons(p.Items))
	out := web.Checkout{
		Stage: checkoutStage(p), Title: p.Title, Shop: v.shopName(p.Application), Due: p.Due(), Icons: icons,
		Icon: web.Icon{URL: p.Icon, Show: icons.Show, Name: p.Title},
	}
	if p.GameProduct != "" {
		out.User = p.Identifier
	}
	for _, item := range p.Items {
		out.Lines = append(out.Lines, web.Line{
			Name: item.Name, Count: item.Count, Price: item.Price,
			Icon: web.Icon{URL: item.Icon, Show: icons.Show, Name: item.Name},
		})
	}
	switch out.Stage {
	case web.StageTransfer:
		account := v.account()
		out.Transfer = &web.Transfer{
			Bank: account.Bank, Number: account.Number, Holder: account.Holder,
			Payer: p.Payer, Amount: p.Due(), Edit: checkoutRoot + "/" + p.ID + "?edit=1",
		}
	case web.StageCheck, web.StageComplete, web.StageFailed:
		out.Receipt = &web.Receipt{Payer: p.Payer, Paid: p.PaidAmount, PaidAt: p.DepositedAt, VerifiedAt: p.VerifiedAt}
		if due := p.Due(); due > 0 && p.PaidAmount > 0 {
			out.Receipt.Under, out.Receipt.Over = max(0, due-p.PaidAmount), max(0, p.PaidAmount-due)
		}
	default: // no account is shown, and no receipt
	}
	if p.Unpaid() {
		out.ExpiresAt = p.ExpiresAt
	}
	return out
}

// account is the account that the customer pays into. Default names are in the language of
// the page.
func (v *visit) account() Account {
	a := v.control.s.Account()
	if a.Bank == defaultAccount.Bank {
		a.Bank = v.t("checkout.bank.default")
	}
	if a.Holder == defaultAccount.Holder {
		a.Holder = v.t("checkout.holder.default")
	}
	return a
}

// shopName is the name of an application for customers, as account is.
func (v *visit) shopName(name string) string {
	if number, ok := strings.CutPrefix(name, defaultName); ok && strings.Trim(number, "0123456789") == "" {
		return v.t("store.name.default", number)
	}
	return name
}

func hasIcons(items []itemView) bool {
	for _, item := range items {
		if item.Icon != "" {
			return true
		}
	}
	return false
}

func checkoutStage(p paymentView) web.Stage {
	switch p.Status {
	case StatusWaiting:
		return web.StageTransfer
	case StatusProgress, StatusComplete:
		switch {
		case p.PaidAmount == 0:
			return web.StageFailed
		case p.Status == StatusProgress:
			return web.StageCheck
		}
		return web.StageComplete
	case StatusExpired:
		return web.StageExpired
	default:
		return web.StagePayer
	}
}
