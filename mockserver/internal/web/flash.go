package web

import (
	"encoding/base64"
	"net/http"
)

const flashCookie = "mock_flash"

// maxFlash keeps the cookie far below the limit of browsers.
const maxFlash = 500

// KeepFlash keeps a message for the next page of the browser. It must not contain secrets.
func KeepFlash(w http.ResponseWriter, f Flash) {
	mark := "+"
	if f.Failed {
		mark = "-"
	}
	value := base64.RawURLEncoding.EncodeToString([]byte(mark + Short(f.Text, maxFlash)))
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // no secret, and loopback has no TLS
		Name: flashCookie, Value: value, Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// TakeFlash returns the kept message once, nil without one.
func TakeFlash(w http.ResponseWriter, r *http.Request) *Flash {
	c, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // as above
	raw, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(raw) < 2 {
		return nil
	}
	return &Flash{Failed: raw[0] == '-', Text: string(raw[1:])}
}
