package main

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"time"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// hookPath is where the service sends webhooks, followed by the secret if there is one.
const hookPath = "/hooks/deposit/"

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(hookPath, s.hook)
	mux.Handle("GET /static/{file}", http.FileServerFS(staticFiles)) // no list of the files
	mux.HandleFunc("GET /{$}", s.page(s.showShop))
	mux.HandleFunc("POST /orders", s.page(s.placeOrder))
	mux.HandleFunc("GET /orders/{id}", s.page(s.showOrder))
	mux.HandleFunc("POST /orders/{id}/pay", s.page(s.newLink))
	mux.HandleFunc("POST /orders/{id}/cancel", s.page(s.cancelOrder))
	mux.HandleFunc("GET /office", s.signedIn(s.showOffice))
	mux.HandleFunc("POST /office", s.signedIn(s.decide))
	mux.HandleFunc("/", s.page(func(http.ResponseWriter, *http.Request) error { return errNotFound }))
	return secure(http.NewCrossOriginProtection().Handler(mux))
}

// secure allows nothing from other hosts, nothing inline and no frame around a page.
func secure(next http.Handler) http.Handler {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // only the customer knows the address of an order
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		next.ServeHTTP(w, r)
	})
}

// problem is an error that a page explains.
type problem struct {
	status int
	key    string // of the text
}

func (p problem) Error() string { return text(english, p.key) }

var (
	errNotFound = problem{http.StatusNotFound, "notfound"}
	errBadForm  = problem{http.StatusBadRequest, "badform"}
	errOutdated = problem{http.StatusConflict, "outdated"} // the page showed something that has changed since
)

// page answers with what show writes, or with a page that says what went wrong.
func (s *shop) page(show func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := show(w, r)
		if err == nil {
			return
		}
		p := problem{http.StatusInternalServerError, "broken"}
		if !errors.As(err, &p) && r.Context().Err() == nil { // and the browser is still there
			slog.Error("webshop: a page failed", "path", r.Pattern, "error", err)
		}
		s.render(w, p.status, newView(r, "problem", p.key, nil))
	}
}

// view is what the templates see.
type view struct {
	Name, Title string // the template, and the key of the title
	Lang        lang
	Data        any
}

func newView(r *http.Request, name, title string, data any) *view {
	return &view{Name: name, Title: title, Lang: chosen(r), Data: data}
}

// T returns a text in the language of the page.
func (v *view) T(key string, args ...any) string { return text(v.Lang, key, args...) }

// Money formats an amount of won.
func (v *view) Money(won int64) string { return money(v.Lang, won) }

var seoul = time.FixedZone("KST", 9*60*60)

// Time formats a time in the shop's time zone.
func (v *view) Time(unix int64) string { return time.Unix(unix, 0).In(seoul).Format(v.T("time")) }

var pages = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

func (s *shop) render(w http.ResponseWriter, status int, v *view) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, v.Name, v); err != nil {
		slog.Error("webshop: a template failed", "page", v.Name, "error", err)
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}
