package mockserver

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// visit is one request of a browser, for a page or with a form.
type visit struct {
	*http.Request
	control control
	w       http.ResponseWriter
	lang    web.Lang
	form    url.Values // what was typed; only for POST
}

// serve reads the form, if one was sent, and calls the page.
func (v *visit) serve(route *pageRoute) {
	v.lang = web.ChooseLang(v.w, v.Request)
	if v.Method != http.MethodGet && v.Method != http.MethodHead {
		if v.form = formOf(v.Request); v.form == nil {
			v.refuse(http.StatusBadRequest, "refused.form")
			return
		}
	}
	route.serve(v)
}

// t is a text in the visitor's language.
func (v *visit) t(key string, args ...any) string { return web.Text(v.lang, key, args...) }

// param is a query parameter, "" without it.
func (v *visit) param(name string) string { return v.URL.Query().Get(name) }

// show sends a page with the message that was kept for it.
func (v *visit) show(p web.Page) {
	if p.Flash == nil && !web.IsFragment(v.Request) {
		p.Flash = web.TakeFlash(v.w, v.Request)
	}
	if err := web.Render(v.w, v.Request, v.lang, p); err != nil {
		v.control.logger().Error("a page could not be shown; this is a bug of the mock", "page", p.Name, "error", err)
		http.Error(v.w, "the page could not be shown; see the log of the mock", http.StatusInternalServerError)
	}
}

// refuse sends a page with an error message: the texts key.title and key.
func (v *visit) refuse(status int, key string) {
	v.show(web.Page{Name: "notice", Status: status, Title: v.t(key + ".title"), Data: v.t(key)})
}

// refuseWith is refuse for an error of the server.
func (v *visit) refuseWith(problem *Error) {
	v.show(web.Page{Name: "notice", Status: problem.Code.httpStatus(), Title: v.t("refused.other.title"),
		Data: web.DashWhy(v.lang, problem.Message)})
}

// goTo ends a form with a redirect, so that a reload does not send it twice.
func (v *visit) goTo(path string) {
	web.Secure(v.w.Header())
	http.Redirect(v.w, v.Request, path, http.StatusSeeOther)
}

// done is goTo with a message for the page.
func (v *visit) done(path, message string) {
	web.KeepFlash(v.w, web.Flash{Text: message})
	v.goTo(path)
}

// failed is done for a refused form.
func (v *visit) failed(path, message string) {
	web.KeepFlash(v.w, web.Flash{Text: message, Failed: true})
	v.goTo(path)
}

// value is the text of a field, without the spaces around it.
func (v *visit) value(name string) string { return strings.TrimSpace(v.form.Get(name)) }

// asset sends a stylesheet or a script.
func (v *visit) asset() {
	web.Secure(v.w.Header())
	if !web.ServeAsset(v.w, v.Request) {
		v.refuse(http.StatusNotFound, "refused.notfound")
	}
}
