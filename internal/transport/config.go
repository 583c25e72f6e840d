package transport

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of Config, also named in the documentation of payments.Config.
const (
	DefaultTimeout      = 10 * time.Second
	DefaultNextTimeout  = 60 * time.Second
	DefaultMaxRetries   = 3
	DefaultRetryWaitMin = 200 * time.Millisecond
	DefaultRetryWaitMax = 10 * time.Second
	DefaultMaxBody      = 1 << 20
	DefaultUserAgent    = "depositpay-go"
)

// Config configures New. The exported configurations of payments and banks map onto it.
type Config struct {
	BaseURL      string
	Token        string      // or
	TokenSource  TokenSource // called once per call
	Transport    http.RoundTripper
	Middleware   func(http.RoundTripper) http.RoundTripper
	Timeout      time.Duration // one attempt of any operation that is not Destructive
	LongTimeout  time.Duration // one attempt of a Destructive operation
	MaxRetries   int           // attempts after the first; negative: none
	RetryWaitMin time.Duration
	RetryWaitMax time.Duration
	MaxBody      int64
	UserAgent    string
	Logger       *slog.Logger
}

// FieldError names the invalid field of a configuration and what to do.
type FieldError struct{ Field, Reason string }

// Error returns "Field: reason".
func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

func (cfg *Config) setDefaults() {
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.LongTimeout = cmp.Or(cfg.LongTimeout, DefaultNextTimeout)
	cfg.RetryWaitMin = cmp.Or(cfg.RetryWaitMin, DefaultRetryWaitMin)
	cfg.RetryWaitMax = cmp.Or(cfg.RetryWaitMax, DefaultRetryWaitMax)
	cfg.MaxRetries = max(0, cmp.Or(cfg.MaxRetries, DefaultMaxRetries))
	cfg.MaxBody = cmp.Or(cfg.MaxBody, DefaultMaxBody)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, DefaultUserAgent)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
}

// validate expects defaults to be set.
func (cfg *Config) validate() (*url.URL, error) {
	base, err := ParseBaseURL("BaseURL", cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Timeout", cfg.Timeout},
		{"NextTimeout", cfg.LongTimeout},
		{"RetryWaitMin", cfg.RetryWaitMin},
		{"RetryWaitMax", cfg.RetryWaitMax},
	} {
		if d.value < 0 {
			return nil, &FieldError{d.field, "must not be negative; 0 takes the default"}
		}
	}
	if cfg.RetryWaitMax < cfg.RetryWaitMin {
		return nil, &FieldError{"RetryWaitMax", fmt.Sprintf("%v is below RetryWaitMin %v", cfg.RetryWaitMax, cfg.RetryWaitMin)}
	}
	if cfg.MaxBody < 0 {
		return nil, &FieldError{"MaxBodyBytes", "must not be negative; 0 takes the default"}
	}
	return base, nil
}

const longestToken = 1024 // redaction searches for every spelling of a token

// ValidateToken checks a required API token. Clients put tokens into the query string
// unescaped, so issued tokens are URL-safe; white space is nearly always a copy-and-paste
// mistake.
func ValidateToken(token string) error {
	if token == "" {
		return &FieldError{"Token", "is empty; set the application API token (interface §5)"}
	}
	if len(token) > longestToken {
		return &FieldError{"Token", fmt.Sprintf("is longer than %d bytes; is it a file's contents?", longestToken)}
	}
	for _, r := range token {
		if r <= ' ' || r == 0x7f {
			return &FieldError{"Token", "holds white space or a control character; was it copied with a line break?"}
		}
	}
	return nil
}

// ParseBaseURL accepts an absolute https URL with an optional path, or http on a loopback
// address, because requests carry the token. The error never quotes the URL, which may hold
// a secret by mistake.
func ParseBaseURL(field, raw string) (*url.URL, error) {
	if raw == "" {
		return nil, &FieldError{field, "is empty; set the address of the service"}
	}
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return nil, &FieldError{field, `is not an absolute URL such as "https://host/path"`}
	}
	switch {
	case u.User != nil:
		return nil, &FieldError{field, "must not hold user information"}
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, &FieldError{field, "must not hold a query or a fragment"}
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return u, nil
	case u.Scheme == "http":
		return nil, &FieldError{field, "must be https; what is sent there must not travel in the clear (http is allowed on loopback only)"}
	}
	return nil, &FieldError{field, fmt.Sprintf("has scheme %q; use https", u.Scheme)}
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ctxKey carries the *call of an operation to the inner RoundTripper.
type ctxKey struct{}

func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(ctxKey{}).(*call)
	return c
}
