package secret

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// known are the causes that callers test for with errors.Is. net/http's "timeout awaiting
// response headers" and the like answer through Timeout().
var known = []error{
	context.Canceled, context.DeadlineExceeded,
	io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
	net.ErrClosed, os.ErrDeadlineExceeded,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
	http.ErrSchemeMismatch,
}

// Cause is a copy of a network error that cannot hold the token: the text is redacted, the
// original is dropped, and the properties that callers test are kept.
type Cause struct {
	text    string
	is      []error
	timeout bool
	badCert bool
}

// Cause copies err. It returns nil for nil.
func (r *Redactor) Cause(err error) *Cause {
	if err == nil {
		return nil
	}
	if c, ok := err.(*Cause); ok { //nolint:errorlint // a copy of a wrapped one keeps the wrapper's words
		return c
	}
	c := &Cause{text: r.String(err.Error())}
	for _, k := range known {
		if errors.Is(err, k) {
			c.is = append(c.is, k)
		}
	}
	if t, ok := errors.AsType[net.Error](err); ok {
		c.timeout = t.Timeout()
	}
	_, c.badCert = errors.AsType[*tls.CertificateVerificationError](err)
	if inner, ok := errors.AsType[*Cause](err); ok {
		c.badCert = inner.badCert
	}
	return c
}

// Error returns the redacted text.
func (c *Cause) Error() string { return c.text }

// Is answers for the well-known causes: context errors, EOF, connection errors.
func (c *Cause) Is(target error) bool {
	for _, k := range c.is {
		if k == target {
			return true
		}
	}
	return false
}

// Timeout reports whether the original was a timeout (net.Error).
func (c *Cause) Timeout() bool { return c.timeout }

// BadCertificate reports whether the peer's certificate was refused: trying again is pointless.
func (c *Cause) BadCertificate() bool { return c.badCert }
