package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// fragmentHeader marks a request of live.js for the template "live" alone.
const fragmentHeader = "X-Fragment"

// Page is one answer.
type Page struct {
	// Name is the file of the page without ".html".
	Name string
	// Status is the HTTP status. Default: 200.
	Status int
	// Title is the finished title, in the visitor's language.
	Title string
	// Data is the page's own view model.
	Data any
	// Live makes the page follow the changes of the server.
	Live bool
	// Reload is after how many seconds a browser without scripts loads the page again; 0: never.
	Reload int
	// Section is the entry of the navigation that is marked as current.
	Section string
	// Flash is shown once, above everything else.
	Flash *Flash
	// At is the address of the page if it differs from that of the request, as after a
	// refused form. Default: that of the request.
	At string
	// Wide is for pages with large tables.
	Wide bool
	// Icons lets the browser load icons from other hosts.
	Icons bool
}

// Flash is the result of the form that the visitor sent.
type Flash struct {
	Failed bool
	Text   string
}

// View is what a template gets.
type View struct {
	Page
	Lang  Lang
	Langs []langLink
	// Self is the path and query of the page, for links and forms that load it again.
	Self string
}

// IsFragment reports whether the request is only for the part that changes.
func IsFragment(r *http.Request) bool { return r.Header.Get(fragmentHeader) != "" }

// Render sends a page in the language. An error comes from the page's template; then
// nothing was sent.
func Render(w http.ResponseWriter, r *http.Request, lang Lang, p Page) error {
	parsed, err := pages()
	if err != nil {
		return err
	}
	page := parsed[pageKey{lang, p.Name}]
	if page == nil {
		return fmt.Errorf("web: there is no page %q in %q", p.Name, lang)
	}
	block := "layout"
	if IsFragment(r) {
		block = "live"
	}
	var out bytes.Buffer
	at := r.URL
	if p.At != "" {
		if at, err = url.Parse(p.At); err != nil {
			return err
		}
	}
	view := View{Page: p, Lang: lang, Langs: langLinks(at, lang), Self: at.RequestURI()}
	if err := page.ExecuteTemplate(&out, block, view); err != nil {
		return err
	}
	h := w.Header()
	Secure(h)
	if p.Icons {
		allowIcons(h)
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(lang))
	h.Set("Vary", "Accept-Language, Cookie, "+fragmentHeader)
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = out.WriteTo(w) // the visitor may be gone
	return nil
}
