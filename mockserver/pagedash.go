package mockserver

import (
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashRoot is the path of the dashboard. Its other pages are under dashRoot+"ui/", so that
// the control API keeps its paths.
const dashRoot = controlRoot + "/"

// dashPage is a page of the dashboard: the template "dash"+name and the text
// "dash.page."+name.
type dashPage struct {
	name, path string
	view       func(*visit) (any, *Error)
	// section is the entry of the navigation that the page belongs to.
	section string
}

var dashPages = []dashPage{
	{"overview", "", (*visit).dashOverview, "overview"},
	{"payments", "ui/payments", (*visit).dashPayments, "payments"},
	{"payment", "ui/payments/{id}", (*visit).dashPayment, "payments"},
	{"deliveries", "ui/deliveries", (*visit).dashDeliveries, "deliveries"},
	{"phone", "ui/phone", (*visit).dashPhone, "phone"},
	{"unmatched", "ui/unmatched", (*visit).dashUnmatched, "unmatched"},
	{"store", "ui/store", (*visit).dashStore, "store"},
	{"users", "ui/users", (*visit).dashUsers, "store"},
	{"applications", "ui/applications", (*visit).dashApplications, "applications"},
	{"clock", "ui/clock", (*visit).dashClock, "clock"},
	{"faults", "ui/faults", (*visit).dashFaults, "faults"},
	{"requests", "ui/requests", (*visit).dashRequests, "requests"},
}

// dashRoutes are the pages of the dashboard under controlRoot. Each takes its own forms,
// so that a refused form comes back under the page's address.
func dashRoutes() []pageRoute {
	routes := []pageRoute{{http.MethodGet, controlRoot, func(v *visit) { v.goTo(dashRoot) }}}
	for i := range dashPages {
		page := &dashPages[i]
		routes = append(routes,
			pageRoute{http.MethodGet, dashRoot + page.path, func(v *visit) { v.showDash(page, nil) }},
			pageRoute{http.MethodPost, dashRoot + page.path, func(v *visit) { v.postDash(page) }})
	}
	return routes
}

// showDash answers with a page; refused is the form on it that was refused.
func (v *visit) showDash(page *dashPage, refused *web.DashForm) {
	body, problem := page.view(v)
	if problem != nil {
		v.refuseWith(problem)
		return
	}
	state := v.control.state()
	dash := &web.Dash{
		Now: state.Clock, Rate: state.Rate, Unmatched: state.Unmatched, Faults: state.Faults,
		Pending: state.Deliveries[DeliveryPending], Failed: state.Deliveries[DeliveryFailed],
		Form: refused, Body: body,
	}
	out := web.Page{
		Name: "dash" + page.name, Title: v.t("dash.page." + page.name), Section: page.section,
		Data: dash, Live: true, Wide: true,
	}
	if refused != nil {
		if out.Status = Code(refused.Code).httpStatus(); out.Status == http.StatusBadRequest {
			out.Status = http.StatusUnprocessableEntity
		}
		refused.Text = web.DashWhy(v.lang, refused.Text)
		if refused.Field == "" {
			out.Flash = &web.Flash{Failed: true, Text: refused.Text}
		}
	}
	v.show(out)
}

// postDash sends a form of the page to the control API.
func (v *visit) postDash(page *dashPage) {
	action, ok := dashActions[v.value("do")]
	if !ok {
		v.refuse(http.StatusBadRequest, "dash.unknown")
		return
	}
	f := v.dashForm()
	answer, problem := f.send(action)
	if problem != nil {
		v.showDash(page, f.refusal(problem))
		return
	}
	to, said := "", v.value("do")
	if action.then != nil {
		to, said = action.then(f, answer)
	}
	if to == "" {
		query := v.URL.Query()
		query.Del("edit") // the form has done its work
		to = strings.TrimSuffix(v.URL.EscapedPath()+"?"+query.Encode(), "?")
	} else {
		to = dashRoot + to
	}
	v.done(to, v.t("dash.done."+said))
}
