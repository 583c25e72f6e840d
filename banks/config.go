package banks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/secret"
	"github.com/depositpay/depositpay-go/internal/transport"
)

// Config configures New. BaseURL is required. Printing a Config does not print the token.
type Config struct {
	// BaseURL is the address of the service, as in payments.Config.
	BaseURL string
	// Token is the application API token, sent with uploads in the field token. If it is
	// empty and TokenSource is nil, no token is sent.
	Token string
	// TokenSource, if set, returns the token of each upload, as in payments.Config. Set at
	// most one of Token and TokenSource.
	TokenSource func(ctx context.Context) (string, error)
	// Fields are the names of an upload's fields, which the interface does not document.
	Fields FieldNames
	// DropsRepeatsByID declares that this deployment drops repeated uploads with the same
	// Notification.ID. Ask its operator: the interface does not say so (§4.6). If true, an
	// upload with an ID is retried after a lost response, and SafeToRetry is true. If false
	// (the default), an upload is sent once, and SafeToRetry is false after a lost response.
	DropsRepeatsByID bool
	// Timeout bounds one attempt. Default 10 s.
	Timeout time.Duration
	// MaxRetries is how often a call is retried where that is safe. Default 3; negative: never.
	MaxRetries int
	// RetryWaitMin and RetryWaitMax bound the wait between attempts, including a Retry-After.
	// Defaults 200 ms and 10 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// Transport, Middleware, Logger and UserAgent are those of payments.Config.
	Transport  http.RoundTripper
	Middleware func(http.RoundTripper) http.RoundTripper
	Logger     *slog.Logger
	UserAgent  string
}

// FieldNames names the fields of an upload (interface §4.6 documents none). An empty name
// selects the default.
type FieldNames struct {
	Package  string // default "package"
	Title    string // default "title"
	Subtitle string // default "subtitle"
	Text     string // default "text"
	ID       string // default "notification_id"
}

func (f *FieldNames) setDefaults() {
	f.Package = cmp.Or(f.Package, "package")
	f.Title = cmp.Or(f.Title, "title")
	f.Subtitle = cmp.Or(f.Subtitle, "subtitle")
	f.Text = cmp.Or(f.Text, "text")
	f.ID = cmp.Or(f.ID, "notification_id")
}

// validate rejects names that would overwrite each other or the token.
func (f *FieldNames) validate() error {
	seen := map[string]bool{"token": true}
	for _, name := range []string{f.Package, f.Title, f.Subtitle, f.Text, f.ID} {
		if seen[name] {
			return &ValidationError{"New", "Config.Fields", fmt.Sprintf("name %q is used twice or is the token's", name)}
		}
		seen[name] = true
	}
	return nil
}

// ValidationError names the invalid field of a configuration or call. Nothing was sent.
type ValidationError struct{ Op, Field, Reason string }

// Error returns "banks: UploadDeposit: package: is empty …".
func (e *ValidationError) Error() string {
	return "banks: " + e.Op + ": " + e.Field + ": " + e.Reason
}

// plain is Config without methods, so that fmt prints its fields.
type plain Config

// Format prints the Config without its token, for every verb.
func (cfg Config) Format(s fmt.State, verb rune) {
	if cfg.Token != "" {
		cfg.Token = secret.Mask
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), plain(cfg))
}

// LogValue returns the Config without its token, for log/slog.
func (cfg Config) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf("%+v", cfg)) }

// MarshalJSON refuses: a Config is code, and may hold a secret.
func (cfg Config) MarshalJSON() ([]byte, error) {
	return nil, errors.New("banks: a Config is not for JSON: it may hold the API token")
}

// Client calls the bank endpoints. It starts no goroutine and is safe for concurrent use.
type Client struct {
	caller             *api.Caller
	fields             FieldNames
	upload, uploadByID *transport.Op
}

// New validates cfg and returns a Client. It sends nothing. Errors are *ValidationError.
func New(cfg Config) (*Client, error) {
	if err := transport.ValidateTokens(cfg.Token, cfg.TokenSource, false); err != nil {
		return nil, configError(err)
	}
	cfg.Fields.setDefaults()
	if err := cfg.Fields.validate(); err != nil {
		return nil, err
	}
	t, err := transport.New(transport.Config{
		BaseURL: cfg.BaseURL, Token: cfg.Token, TokenSource: cfg.TokenSource,
		Transport: cfg.Transport, Middleware: cfg.Middleware, Timeout: cfg.Timeout,
		MaxRetries: cfg.MaxRetries, RetryWaitMin: cfg.RetryWaitMin, RetryWaitMax: cfg.RetryWaitMax,
		UserAgent: cfg.UserAgent, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, configError(err)
	}
	hasToken := cfg.Token != "" || cfg.TokenSource != nil
	return &Client{
		caller: &api.Caller{Transport: t}, fields: cfg.Fields,
		upload: uploadOp(hasToken, false), uploadByID: uploadOp(hasToken, cfg.DropsRepeatsByID),
	}, nil
}

func configError(err error) error {
	if f, ok := errors.AsType[*transport.FieldError](err); ok {
		return &ValidationError{"New", "Config." + f.Field, f.Reason}
	}
	return err
}

// CloseIdleConnections closes pooled connections that are not in use.
func (c *Client) CloseIdleConnections() { c.caller.Transport.CloseIdleConnections() }
