package web

import "net/http"

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; img-src 'self' data:"

// Secure sets the headers that keep a page to itself: no script but ours, nothing of
// other hosts, no frame around it, no address of it to anybody, no copy of it.
func Secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: browsers would then hide from our own forms where they come from,
	// and the check for other sites would refuse them.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// allowIcons lets the browser load pictures from other hosts, since the visitor wants to
// see them. The referrer policy keeps the page's address from them.
func allowIcons(h http.Header) {
	h.Set("Content-Security-Policy", policy+" https:")
}
