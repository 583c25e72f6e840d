package mockserver

import (
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// checkoutRoot is where checkout pages lie, see [Server.CheckoutURL].
const checkoutRoot = "/pay"

// checkoutReload is after how many seconds a browser without scripts looks again.
const checkoutReload = 5

func checkoutRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, checkoutRoot + "/{payToken}", (*visit).checkout},
		{http.MethodPost, checkoutRoot + "/{payToken}", (*visit).checkoutPayer},
	}
}

// checkout shows the checkout page of a payment (interface §1.2); with ?edit=1 the form
// again, so that the customer can correct it.
func (v *visit) checkout() {
	p, ok := v.server.Payment(v.PathValue("payToken"))
	if !ok {
		v.refuse(http.StatusNotFound, "checkout.unknown")
		return
	}
	var form *web.PayerForm
	if edit := v.param("edit") != ""; p.Status == StatusCreated || p.Status == StatusWaiting && edit {
		form = v.payerForm(p, enteredBefore(p))
	}
	v.showCheckout(p, form, http.StatusOK)
}

// checkoutPayer takes the form of the checkout page.
func (v *visit) checkoutPayer() {
	p, ok := v.server.Payment(v.PathValue("payToken"))
	if !ok {
		v.refuse(http.StatusNotFound, "checkout.unknown")
		return
	}
	page := checkoutRoot + "/" + p.ID
	in := v.readPayer(p)
	if in.wrong() && p.unpaid() {
		v.showCheckout(p, v.payerForm(p, in), http.StatusUnprocessableEntity)
		return
	}
	switch _, problem := asProblem(v.server.GivePayer(p.ID, in.name, in.amount)); {
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

func (v *visit) showCheckout(p Payment, form *web.PayerForm, status int) {
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
func (v *visit) checkoutView(p Payment) web.Checkout {
	icons := web.NewIcons(v.Request, p.Icon != "" || hasIcons(p.Items))
	out := web.Checkout{
		Stage: checkoutStage(p), Title: v.hide(p.Title), Shop: v.shopName(p.Application), Due: p.AmountDue(), Icons: icons,
		Icon: web.Icon{URL: v.hide(p.Icon), Show: icons.Show, Name: v.hide(p.Title)},
	}
	if p.GameProduct != "" {
		out.User = v.hide(p.Identifier)
	}
	for _, item := range p.Items {
		out.Lines = append(out.Lines, web.Line{
			Name: v.hide(item.Name), Count: item.Count, Price: item.Price,
			Icon: web.Icon{URL: v.hide(item.Icon), Show: icons.Show, Name: v.hide(item.Name)},
		})
	}
	switch out.Stage {
	case web.StageTransfer:
		account := v.account()
		out.Transfer = &web.Transfer{
			Bank: v.hide(account.Bank), Number: v.hide(account.Number), Holder: v.hide(account.Holder),
			Payer: v.hide(p.Payer), Amount: p.AmountDue(), Edit: checkoutRoot + "/" + p.ID + "?edit=1",
		}
	case web.StageCheck, web.StageComplete, web.StageFailed:
		out.Receipt = &web.Receipt{Payer: v.hide(p.Payer), Paid: p.PaidAmount, PaidAt: p.DepositedAt, VerifiedAt: p.VerifiedAt}
		if due := p.AmountDue(); due > 0 && p.PaidAmount > 0 {
			out.Receipt.Under, out.Receipt.Over = max(0, due-p.PaidAmount), max(0, p.PaidAmount-due)
		}
	default: // nothing to pay into, and nothing paid
	}
	if p.unpaid() {
		out.ExpiresAt = p.ExpiresAt
	}
	return out
}

// account is what the customer pays into. A name that nobody chose is in the language of
// the page.
func (v *visit) account() Account {
	a := v.server.Account()
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

func hasIcons(items []Item) bool {
	for _, item := range items {
		if item.Icon != "" {
			return true
		}
	}
	return false
}

func checkoutStage(p Payment) web.Stage {
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
