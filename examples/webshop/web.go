package main

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/payments"
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
	mux.Handle("GET /static/", cached(http.FileServerFS(staticFiles)))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /{$}", s.page(s.showCatalogue))
	mux.HandleFunc("GET /cart", s.page(s.showCart))
	mux.HandleFunc("POST /cart/add", s.page(s.addToCart))
	mux.HandleFunc("POST /cart", s.page(s.updateCart))
	mux.HandleFunc("POST /orders", s.page(s.placeOrder))
	mux.HandleFunc("GET /orders", s.page(s.showOrders))
	mux.HandleFunc("GET /orders/{id}", s.page(s.showOrder))
	mux.HandleFunc("GET /orders/{id}/live", s.liveOrder)
	mux.HandleFunc("GET /orders/{id}/receipt", s.page(s.showReceipt))
	mux.HandleFunc("POST /orders/{id}/pay", s.page(s.newLink))
	mux.HandleFunc("POST /orders/{id}/cancel", s.page(s.cancelOrder))
	s.officeRoutes(mux)
	mux.HandleFunc("/", s.page(func(http.ResponseWriter, *http.Request) error { return errNotFound }))
	return s.secure(http.NewCrossOriginProtection().Handler(mux))
}

// secure keeps a page to itself: nothing of other hosts, nothing inline, no frame around it.
func (s *shop) secure(next http.Handler) http.Handler {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // the address of an order is for its customer alone
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.HTTPS {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if r.Method == http.MethodPost && !strings.HasPrefix(r.URL.Path, hookPath) {
			r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		}
		next.ServeHTTP(w, r)
	})
}

func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=300")
		next.ServeHTTP(w, r)
	})
}

func (s *shop) health(w http.ResponseWriter, r *http.Request) {
	if err := s.db.read.PingContext(r.Context()); err != nil {
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
	}
}

var (
	errNotFound = errors.New("not found")
	errBadForm  = errors.New("bad form")
)

// page answers with what show writes, or with a page that says what went wrong.
func (s *shop) page(show func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if l := r.URL.Query().Get("lang"); l != "" {
			s.setCookie(w, "lang", langOf(l).String(), 365*24*time.Hour, http.SameSiteLaxMode)
		}
		err := show(w, r)
		if err == nil {
			return
		}
		status, key := http.StatusInternalServerError, "broken"
		switch {
		case errors.Is(err, errNotFound):
			status, key = http.StatusNotFound, "notfound"
		case errors.Is(err, errBadForm):
			status, key = http.StatusBadRequest, "badform"
		case errors.Is(err, errNoLink):
			status, key = http.StatusConflict, "nolink"
		case errors.Is(err, errOutdated):
			status, key = http.StatusConflict, "outdated"
		case errors.Is(err, errAsking):
			status, key = http.StatusConflict, "asking"
		case errors.Is(err, errAsked):
			status, key = http.StatusConflict, "asked"
		case errors.Is(err, errOtherSum):
			status, key = http.StatusConflict, "othersum"
		}
		if status == http.StatusInternalServerError && r.Context().Err() == nil {
			slog.Error("webshop: a page failed", "path", r.Pattern, "error", err)
		}
		v := s.view(r, "problem", key)
		if strings.HasPrefix(r.URL.Path, "/office") {
			v.Office = s.guard.actor(r)
		}
		s.render(w, status, v)
	}
}

func (s *shop) setCookie(w http.ResponseWriter, name, value string, age time.Duration, site http.SameSite) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the shop is reached by https
		Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: s.HTTPS, SameSite: site,
	})
}

// view is what the templates see: the page, its language, and Data.
type view struct {
	Name, Title string // the template and the key of the title
	Lang        lang
	Path        string
	InCart      int64
	Office      string // who is signed in to the back office, on its pages
	Refresh     bool   // without scripts, the page is loaded again every few seconds
	Data        any
}

func (s *shop) view(r *http.Request, name, title string) *view {
	v := &view{Name: name, Title: title, Lang: chosen(r), Path: r.URL.EscapedPath()}
	if r.Method != http.MethodGet {
		v.Path = "/"
	}
	for _, l := range readCart(r) {
		v.InCart += l.Count
	}
	return v
}

// T is a text, Money an amount of won, Time a moment, in the language of the page.
func (v *view) T(key string, args ...any) string { return text(v.Lang, key, args...) }
func (v *view) Money(won int64) string           { return money(v.Lang, won) }

// Amount is what the service says was paid, which may be no whole number of won.
func (v *view) Amount(a payments.Amount) string {
	if won, ok := a.Int64(); ok {
		return v.Money(won)
	}
	return a.String()
}

func (v *view) Time(t time.Time) string { return moment(v.Lang, t) }
func (v *view) Of(data any) *view       { part := *v; part.Data = data; return &part }

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).ParseFS(pageFiles, "pages/*.html"))

func (s *shop) render(w http.ResponseWriter, status int, v *view) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, "head", v); err == nil {
		err = pages.ExecuteTemplate(&body, v.Name, v)
		if err == nil {
			err = pages.ExecuteTemplate(&body, "foot", v)
		}
		if err != nil {
			slog.Error("webshop: a template failed", "page", v.Name, "error", err)
			http.Error(w, "Something is broken here.", http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", v.Lang.String())
	w.Header().Set("Vary", "Accept-Language, Cookie")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}
