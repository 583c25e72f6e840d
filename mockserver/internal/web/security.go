package web

import "net/http"

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; img-src 'self' data:"

// Secure sets the headers that isolate a page: only our scripts, nothing from other hosts,
// no frames, no Referer for other sites, no caching.
func Secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: browsers would then send our own forms without an origin, and the
	// check for other sites would refuse them.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// allowIcons lets the browser load pictures from other hosts, because the visitor asked
// for them. The referrer policy hides the page's address from those hosts.
func allowIcons(h http.Header) {
	h.Set("Content-Security-Policy", policy+" https:")
}
