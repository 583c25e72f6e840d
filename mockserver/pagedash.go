package mockserver

import (
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashRoot is where the dashboard begins. Its other pages lie under dashRoot+"ui/", so
// that the control API keeps its paths.
const dashRoot = controlRoot + "/"

// dashPage is a page of the dashboard: the template "dash"+name and the text
// "dash.page."+name.
type dashPage struct {
	name, path string
	view       func(*Server, *dashCall) (any, *Error)
	// section is the entry of the navigation that the page belongs to.
	section string
}

var dashPages = []dashPage{
	{"overview", "", (*Server).dashOverview, "overview"},
	{"payments", "ui/payments", (*Server).dashPayments, "payments"},
	{"payment", "ui/payments/{id}", (*Server).dashPayment, "payments"},
	{"deliveries", "ui/deliveries", (*Server).dashDeliveries, "deliveries"},
	{"phone", "ui/phone", (*Server).dashPhone, "phone"},
	{"unmatched", "ui/unmatched", (*Server).dashUnmatched, "unmatched"},
	{"store", "ui/store", (*Server).dashStore, "store"},
	{"users", "ui/users", (*Server).dashUsers, "store"},
	{"applications", "ui/applications", (*Server).dashApplications, "applications"},
	{"clock", "ui/clock", (*Server).dashClock, "clock"},
	{"faults", "ui/faults", (*Server).dashFaults, "faults"},
	{"requests", "ui/requests", (*Server).dashRequests, "requests"},
}

// dashActions are what the forms of the dashboard do, by the value of the field "do".
var dashActions = map[string]func(*Server, *dashCall) (dashDone, *Error){
	"pay":            (*Server).doPay,
	"payer":          (*Server).doPayer,
	"resend":         (*Server).doResend,
	"deliver":        (*Server).doDeliver,
	"notify":         (*Server).doNotify,
	"upload":         (*Server).doUpload,
	"assign":         (*Server).doAssign,
	"dismiss":        (*Server).doDismiss,
	"product":        (*Server).doProduct,
	"product-delete": (*Server).doProductDelete,
	"user":           (*Server).doUser,
	"application":    (*Server).doApplication,
	"advance":        (*Server).doAdvance,
	"jump":           (*Server).doJump,
	"fault":          (*Server).doFault,
	"fault-remove":   (*Server).doFaultRemove,
	"faults-clear":   (*Server).doFaultsClear,
	"chance":         (*Server).doChance,
	"chance-end":     (*Server).doChanceEnd,
}

// dashDone is how a form ended well.
type dashDone struct {
	// to is the page to go to, as in "ui/store"; empty for the one with the form.
	to string
	// said is what that page says: the text "dash.done."+said.
	said string
}

// dashRoutes are the pages of the dashboard under controlRoot. Each takes its own forms,
// so that a form that is refused comes back under the page's address.
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
	c := &dashCall{visit: v, id: v.PathValue("id")}
	body, problem := page.view(v.server, c)
	if problem != nil {
		v.refuseWith(problem)
		return
	}
	dash := v.server.dash()
	dash.Form, dash.Body = refused, body
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

// postDash does what a form of the page asks for.
func (v *visit) postDash(page *dashPage) {
	c := &dashCall{visit: v, id: v.PathValue("id")}
	if c.id == "" {
		c.id = v.value("target")
	}
	do := dashActions[v.value("do")]
	if do == nil {
		v.refuse(http.StatusBadRequest, "dash.unknown")
		return
	}
	done, problem := do(v.server, c)
	if problem != nil {
		v.showDash(page, c.refusal(problem))
		return
	}
	to := dashRoot + done.to
	if done.to == "" {
		query := v.URL.Query()
		query.Del("edit") // the form has done its work
		to = strings.TrimSuffix(v.URL.EscapedPath()+"?"+query.Encode(), "?")
	}
	v.done(to, v.t("dash.done."+done.said))
}

// dash is what every page shows.
func (s *Server) dash() *web.Dash {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.countDeliveries()
	return &web.Dash{
		Now: s.clock.now(), Rate: s.clock.rate(), Unmatched: int64(len(s.phone.unmatched)), Faults: s.faults.on.Load(),
		Pending: counts[DeliveryPending], Failed: counts[DeliveryFailed],
	}
}
