package payments

import (
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/transport"
)

// Client calls the payment endpoints of the service for one application. It starts
// no goroutine of its own and is safe for concurrent use.
type Client struct {
	caller   *api.Caller
	decoder  *decoder
	checkout string
}

// New validates cfg and returns a Client. It sends nothing. Errors are *ValidationError and
// name the field.
func New(cfg Config) (*Client, error) {
	if err := transport.ValidateTokens(cfg.Token, cfg.TokenSource, true); err != nil {
		return nil, configError(err)
	}
	checkout := ""
	if cfg.CheckoutURL != "" {
		u, err := transport.ParseBaseURL("CheckoutURL", cfg.CheckoutURL)
		if err != nil {
			return nil, configError(err)
		}
		checkout = u.String()
	}
	gameField := cfg.GameProductField
	switch gameField {
	case "":
		gameField = defaultGameField
	case "items":
		return nil, &ValidationError{"New", "GameProductField", `is "items", which is the items' own field`}
	}
	t, err := transport.New(cfg.transport())
	if err != nil {
		return nil, configError(err)
	}
	return &Client{
		caller: &api.Caller{
			Transport:  t,
			TokenCodes: upper(cfg.TokenErrorCodes, defaultTokenCodes),
			EmptyCodes: []string{"NO_PROCESSED_PAYMENT", "NO_PROGRESS_PAYMENTS"},
		},
		decoder:  &decoder{gameField: gameField, clean: t.Redactor().Bytes},
		checkout: checkout,
	}, nil
}

func (cfg *Config) transport() transport.Config {
	return transport.Config{
		BaseURL: cfg.BaseURL, Token: cfg.Token, TokenSource: cfg.TokenSource,
		Transport: cfg.Transport, Middleware: cfg.Middleware,
		Timeout: cfg.Timeout, LongTimeout: cfg.NextTimeout,
		MaxRetries: cfg.MaxRetries, RetryWaitMin: cfg.RetryWaitMin, RetryWaitMax: cfg.RetryWaitMax,
		MaxBody: cfg.MaxBodyBytes, UserAgent: cfg.UserAgent, Logger: cfg.Logger,
	}
}

func configError(err error) error {
	if f, ok := errors.AsType[*transport.FieldError](err); ok {
		return &ValidationError{"New", "Config." + f.Field, f.Reason}
	}
	return err
}

func upper(codes, defaults []string) []string {
	if len(codes) == 0 {
		codes = defaults
	}
	out := make([]string, len(codes))
	for i, code := range codes {
		out[i] = strings.ToUpper(code)
	}
	return out
}

// CheckoutURL returns the address of the page where the customer pays payToken:
// Config.CheckoutURL + "/" + payToken (interface §1). It fails if Config.CheckoutURL is
// empty.
func (c *Client) CheckoutURL(payToken uuid.UUID) (string, error) {
	if c.checkout == "" {
		return "", &ValidationError{"CheckoutURL", "Config.CheckoutURL", "was not set; New needs it to make checkout links"}
	}
	if payToken == uuid.Nil {
		return "", &ValidationError{"CheckoutURL", "payToken", "is the nil UUID"}
	}
	return c.checkout + "/" + payToken.String(), nil
}

// CloseIdleConnections closes pooled connections that are not in use. The Client
// stays usable.
func (c *Client) CloseIdleConnections() { c.caller.Transport.CloseIdleConnections() }
