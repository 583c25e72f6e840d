package main

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// guard keeps the back office. Sessions are signed with a key that is derived from the
// password: every replica knows them, and a new password ends them all.
type guard struct {
	key   []byte
	tries *rate.Limiter
	now   func() time.Time
}

const (
	sessionCookie = "office"
	sessionAge    = 12 * time.Hour
	keySalt       = "depositpay webshop session"
	maxActor      = 40
)

// keyRounds makes guessing passwords slow. Tests, which log in often, take fewer.
var keyRounds = 600_000

func newGuard(cfg settings) (*guard, error) {
	key, err := deriveKey(cfg.OfficePassword)
	if err != nil {
		return nil, fmt.Errorf("webshop: the password of the back office: %w", err)
	}
	return &guard{key: key, tries: rate.NewLimiter(1, 5), now: cfg.now}, nil
}

func deriveKey(password string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, []byte(keySalt), keyRounds, sha256.Size)
}

// admits reports whether the password is right, in a time that does not tell how wrong it is.
func (g *guard) admits(password string) bool {
	key, err := deriveKey(password)
	return err == nil && subtle.ConstantTimeCompare(key, g.key) == 1
}

// session is the value of the cookie for actor: name, end and signature.
func (g *guard) session(actor string) string {
	body := base64.RawURLEncoding.EncodeToString([]byte(actor)) + "." + strconv.FormatInt(g.now().Add(sessionAge).Unix(), 10)
	return body + "." + g.sign(body)
}

func (g *guard) sign(body string) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// actor is who is signed in; empty if nobody is.
func (g *guard) actor(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	end := strings.LastIndexByte(c.Value, '.')
	if end < 0 || subtle.ConstantTimeCompare([]byte(g.sign(c.Value[:end])), []byte(c.Value[end+1:])) != 1 {
		return ""
	}
	name, until, _ := strings.Cut(c.Value[:end], ".")
	seconds, err := strconv.ParseInt(until, 10, 64)
	actor, decodeErr := base64.RawURLEncoding.DecodeString(name)
	if err != nil || decodeErr != nil || g.now().Unix() >= seconds {
		return ""
	}
	return string(actor)
}

func (s *shop) showLogin(w http.ResponseWriter, r *http.Request) error {
	s.render(w, http.StatusOK, s.view(r, "login", "office"))
	return nil
}

// login lets the shopkeeper in, who gives the name that stands under every decision.
func (s *shop) login(w http.ResponseWriter, r *http.Request) error {
	v := s.view(r, "login", "office")
	actor := plain(strings.TrimSpace(r.PostFormValue("name")))
	switch {
	case actor == "" || len([]rune(actor)) > maxActor:
		v.Data = "login.name"
		s.render(w, http.StatusBadRequest, v)
	case !s.guard.tries.AllowN(s.now(), 1):
		v.Data = "login.slow"
		s.render(w, http.StatusTooManyRequests, v)
	case !s.guard.admits(r.PostFormValue("password")):
		v.Data = "login.wrong"
		s.render(w, http.StatusForbidden, v)
	default:
		s.setCookie(w, sessionCookie, s.guard.session(actor), sessionAge, http.SameSiteStrictMode)
		http.Redirect(w, r, "/office", http.StatusSeeOther)
	}
	return nil
}

func (s *shop) logout(w http.ResponseWriter, r *http.Request) error {
	s.setCookie(w, sessionCookie, "", -time.Second, http.SameSiteStrictMode)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
