package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"

	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/internal/secret"
)

// TokenSource returns the current API token.
type TokenSource func(ctx context.Context) (string, error)

// Token is an API token in the forms that requests need. It prints as a mask.
type Token struct {
	query  string
	member []byte // `{"token":"…"`
}

func newToken(value string) *Token {
	quoted, _ := json.Marshal(value) // a string always marshals
	return &Token{
		query:  "token=" + url.QueryEscape(value),
		member: append([]byte(`{"token":`), quoted...),
	}
}

// Format prints the mask, for every verb.
func (*Token) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, secret.Mask) }

// Same reports whether both are the same token.
func (t *Token) Same(other *Token) bool { return t.query == other.query }

// tokens provides the token of every call: fixed, or from a source.
type tokens struct {
	source   TokenSource
	last     atomic.Pointer[Token] // without a source the only one
	redactor *secret.Redactor
}

// Token returns the token of one call of op, or nil if op has none. Its error is redacted. A
// token is added to the redactor before it is used and is kept there.
func (c *Client) Token(ctx context.Context, op *Op) (*Token, error) {
	if op.Token == NoToken {
		return nil, nil //nolint:nilnil // no token, and no error
	}
	if c.tokens.source == nil {
		return c.tokens.last.Load(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	t, err := c.tokens.ask(ctx)
	if err != nil {
		return nil, c.redactor.Cause(err)
	}
	return t, nil
}

func (t *tokens) ask(ctx context.Context) (*Token, error) {
	value := ""
	err := safecall.Do("the source", func() (err error) {
		value, err = t.source(ctx)
		return err
	})
	if len(value) <= longestToken {
		t.redactor.Add(value) // also if it is not used: the error may quote it
	} else {
		err = nil // it may quote the value, which the redactor does not know
	}
	if err != nil {
		return nil, err
	}
	if err, bad := errors.AsType[*FieldError](ValidateToken(value)); bad {
		return nil, errors.New("the token " + err.Reason)
	}
	fresh := newToken(value)
	if last := t.last.Load(); last != nil && last.Same(fresh) {
		return last, nil
	}
	t.last.Store(fresh)
	return fresh, nil
}

// ValidateTokens checks that at most one token is configured, and that one is if it is
// required.
func ValidateTokens(token string, source TokenSource, required bool) error {
	switch {
	case source != nil && token != "":
		return &FieldError{"TokenSource", "is set, and Token as well; set one of them"}
	case source != nil, token == "" && !required:
		return nil
	}
	return ValidateToken(token)
}
