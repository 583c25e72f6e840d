package payments

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/internal/secret"
)

// Config configures New. BaseURL and one of Token and TokenSource are required. Printing
// a Config, by any verb of package fmt or by log/slog, does not print the token (but fmt
// prints it in an unexported field of another struct, where it may not call methods).
type Config struct {
	// BaseURL is the address of the service, with a path if it has one:
	// "https://pay.example.com/api". https only, except on loopback.
	BaseURL string
	// Token is the application API token (interface §5). Set either it or TokenSource.
	Token string
	// TokenSource, if set, is asked for the token of each call, so the token can be
	// replaced while the program runs. Return a value at hand: read a file or a variable,
	// and refresh what comes from a network in the background. If the service refuses the
	// token, TokenSource is asked again; if it returns another one, the call is repeated
	// once with that, since a refused call did nothing. It may be called from many
	// goroutines at once, and returns when ctx ends, after Timeout at the latest. If it
	// fails, panics or returns no usable token, nothing is sent and the error is
	// ErrTokenSource; it quotes the source's error, which must not hold a secret other than
	// tokens that the source has returned. Those are redacted everywhere, the last 64 of them.
	TokenSource func(ctx context.Context) (string, error)
	// CheckoutURL is the address of the checkout pages, needed by CheckoutURL alone.
	CheckoutURL string
	// GameProductField is the deployment's name of metadata.game_product, which carries a
	// brand in live deployments. Default "game_product".
	GameProductField string
	// TokenErrorCodes are codes of the service that mean a refused token, besides HTTP
	// 401 and 403; the interface shows none. Upper and lower case are alike. Default:
	// INVALID_TOKEN, TOKEN_INVALID, INVALID_API_TOKEN, TOKEN_EXPIRED, UNAUTHORIZED.
	TokenErrorCodes []string

	// Timeout bounds one attempt of any call but Next. Default 10 s.
	Timeout time.Duration
	// NextTimeout bounds one attempt of Next. Giving up on an answer may cost a payment,
	// so it is long. Default 60 s.
	NextTimeout time.Duration
	// MaxRetries is how often a call is tried again where that is safe (see SafeToRetry).
	// Default 3; negative: never.
	MaxRetries int
	// RetryWaitMin and RetryWaitMax bound the wait between two attempts, which doubles
	// with jitter. A Retry-After of the service is honoured up to RetryWaitMax, whatever
	// it says. Defaults 200 ms and 10 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// MaxBodyBytes bounds an answer. Default 1 MiB.
	MaxBodyBytes int64

	// Transport sends the requests; nil takes a pool of its own, without a proxy. It sees
	// the token: put whatever records requests into Middleware. An *http.Transport is
	// cloned and kept to HTTP/1.1 without compression; its proxy, TLS and pool stay as
	// they are.
	Transport http.RoundTripper
	// Middleware wraps the transport above the line where the token is added, for spans
	// and metrics. It runs once an attempt and sees neither the token nor the request's
	// body. It must not try again by itself.
	Middleware func(http.RoundTripper) http.RoundTripper
	// Logger gets one debug record an attempt, without token and bodies. Default: none.
	Logger *slog.Logger
	// UserAgent is sent with every request. Default "depositpay-go".
	UserAgent string
}

const defaultGameField = "game_product"

// defaultTokenCodes: the interface shows none, so these are guesses at the usual
// words. A wrong guess slows a poller down to one poll every BackoffMax, with an ERROR
// line; a missing one makes it report an error at every poll.
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

// LogValue is the Config without its token, for log/slog.
func (cfg Config) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("%+v", cfg.redacted()))
}

// MarshalJSON refuses: a Config is code, and holds a secret.
func (cfg Config) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("payments: a Config is not for JSON: it holds the API token")
}
