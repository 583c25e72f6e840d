package payments

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/internal/secret"
)

// Config configures New. BaseURL and either Token or TokenSource are required. Printing a
// Config with package fmt or log/slog does not print the token. (Exception: fmt prints it in
// an unexported field of another struct, where fmt cannot call methods.)
type Config struct {
	// BaseURL is the address of the service, with a path if it has one:
	// "https://pay.example.com/api". https only, except on loopback.
	BaseURL string
	// Token is the application API token (interface §5). Set either it or TokenSource.
	Token string
	// TokenSource, if set, returns the token of each call, so that the token can be replaced
	// while the program runs. Return quickly: read a file or a variable, and refresh a token
	// from the network in the background. If the service rejects the token, TokenSource is
	// called again; if it returns a different token, the call is repeated once, since a
	// rejected call had no effect. TokenSource is called from several goroutines and must
	// return when ctx ends, after Timeout at the latest. If it fails, panics or returns an
	// unusable token, nothing is sent and the error is ErrTokenSource. That error quotes the
	// source's error, which must not hold a secret other than tokens the source has returned.
	// The last 64 of those are redacted everywhere.
	TokenSource func(ctx context.Context) (string, error)
	// CheckoutURL is the address of the checkout pages. Only Client.CheckoutURL needs it.
	CheckoutURL string
	// GameProductField is the deployment's name of metadata.game_product, which contains a
	// brand name in live deployments. Default "game_product".
	GameProductField string
	// TokenErrorCodes are the service's codes for a rejected token, in addition to HTTP 401
	// and 403; the interface documents none. Case is ignored. Default:
	// INVALID_TOKEN, TOKEN_INVALID, INVALID_API_TOKEN, TOKEN_EXPIRED, UNAUTHORIZED.
	TokenErrorCodes []string

	// Timeout bounds one attempt of any call but Next. Default 10 s.
	Timeout time.Duration
	// NextTimeout bounds one attempt of Next. Giving up on a response may cost a payment, so
	// it is long. Default 60 s.
	NextTimeout time.Duration
	// MaxRetries is how often a call is retried where that is safe (see SafeToRetry).
	// Default 3; negative: never.
	MaxRetries int
	// RetryWaitMin and RetryWaitMax bound the wait between two attempts, an exponential
	// backoff with jitter. A Retry-After of the service is honored up to RetryWaitMax.
	// Defaults 200 ms and 10 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// MaxBodyBytes bounds a response body. Default 1 MiB.
	MaxBodyBytes int64

	// Transport sends the requests; nil creates a connection pool without a proxy. It sees
	// the token: put everything that records requests into Middleware. An *http.Transport is
	// cloned and limited to HTTP/1.1 without compression; its proxy, TLS and pool settings
	// are kept.
	Transport http.RoundTripper
	// Middleware wraps the transport, for spans and metrics. It runs once per attempt, before
	// the token is added, and sees neither the token nor the request's body. It must not
	// retry.
	Middleware func(http.RoundTripper) http.RoundTripper
	// Logger gets one debug record per attempt, without token and bodies. Default: none.
	Logger *slog.Logger
	// UserAgent is sent with every request. Default "depositpay-go".
	UserAgent string
}

const defaultGameField = "game_product"

// defaultTokenCodes are guesses: the interface documents none. A wrong guess slows a poller
// down to one poll every BackoffMax, with an ERROR line; a missing code makes it report an
// error at every poll.
var defaultTokenCodes = []string{"INVALID_TOKEN", "TOKEN_INVALID", "INVALID_API_TOKEN", "TOKEN_EXPIRED", "UNAUTHORIZED"}

// plain is Config without methods, so that fmt prints its fields.
type plain Config

func (cfg Config) redacted() plain {
	if cfg.Token != "" {
		cfg.Token = secret.Mask
	}
	return plain(cfg)
}

// Format prints the Config without its token, for every verb.
func (cfg Config) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), cfg.redacted())
}

// LogValue returns the Config without its token, for log/slog.
func (cfg Config) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("%+v", cfg.redacted()))
}

// MarshalJSON refuses: a Config is code, and holds a secret.
func (cfg Config) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("payments: a Config is not for JSON: it holds the API token")
}
