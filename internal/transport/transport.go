package transport

import (
	"context"
	"net/http"
	"net/url"

	"github.com/depositpay/depositpay-go/internal/secret"
)

// Client sends operations. It is safe for concurrent use.
type Client struct {
	cfg      Config
	base     *url.URL
	http     *http.Client
	inner    *inner
	redactor *secret.Redactor
	tokens   tokens
	agent    []string // the User-Agent header
}

// New checks cfg and returns a Client. Errors are *FieldError.
func New(cfg Config) (*Client, error) {
	cfg.setDefaults()
	base, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	next, real := choose(cfg.Transport)
	c := &Client{base: base, redactor: secret.NewRedactor(cfg.Token), agent: []string{cfg.UserAgent}}
	c.inner = &inner{
		next:     next,
		traced:   real,
		redactor: c.redactor,
		cfg:      &c.cfg,
	}
	c.tokens.source, c.tokens.redactor = cfg.TokenSource, c.redactor
	c.tokens.last.Store(newToken(cfg.Token))
	// The client keeps no copy of the token outside tokens and the redactor.
	cfg.Token = ""
	c.cfg = cfg

	var rt http.RoundTripper = c.inner
	if cfg.Middleware != nil {
		rt = cfg.Middleware(rt)
	}
	c.http = &http.Client{
		Transport: rt,
		// The Referer of a followed redirect would carry the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Redactor returns the redactor of the client's tokens.
func (c *Client) Redactor() *secret.Redactor { return c.redactor }

// CloseIdleConnections closes pooled connections that are not in use.
func (c *Client) CloseIdleConnections() {
	if t, ok := c.inner.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Do performs op with the token that Token returned for it. body is a JSON object without
// the token (nil for none), query is an encoded query without the token. It always returns
// an Outcome.
func (c *Client) Do(ctx context.Context, op *Op, token *Token, query string, body []byte) Outcome {
	k := &call{client: c, op: op, token: token, body: body}
	if err := ctx.Err(); err != nil {
		return Outcome{Kind: Unsent, Cause: c.redactor.Cause(err)}
	}
	ctx = context.WithValue(ctx, ctxKey{}, k)
	err := k.loop(c.request(ctx, op, query))
	return k.outcome(err)
}

// request builds the request as layers above inner see it: without the token, and without
// the body, which inner takes from the call.
func (c *Client) request(ctx context.Context, op *Op, query string) *http.Request {
	u := *c.base
	u.Path += op.Path
	u.RawPath = ""
	u.RawQuery = query
	h := make(http.Header, 4)
	h["Accept"] = acceptJSON
	h["User-Agent"] = c.agent
	if op.Method == http.MethodPost {
		h["Content-Type"] = acceptJSON
	}
	r := &http.Request{
		Method: op.Method, URL: &u, Host: u.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return r.WithContext(ctx)
}

var acceptJSON = []string{"application/json"}
