// Package api turns the outcome of an operation into a response or a failure, with the
// errors that packages payments and banks share.
package api

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/internal/transport"
)

// Sentinel errors, which packages payments and banks export.
var (
	ErrAmbiguous    = errors.New("ambiguous outcome: the service may have acted, its answer is lost")
	ErrUndecodable  = errors.New("the answer cannot be read")
	ErrTokenRefused = errors.New("the service refuses the API token")
	ErrTokenSource  = errors.New("Config.TokenSource gave no API token")
)

// TokenFails reports whether err means that there is no token that the service accepts.
func TokenFails(err error) bool {
	return errors.Is(err, ErrTokenRefused) || errors.Is(err, ErrTokenSource)
}

// Failure describes the failure of one operation.
type Failure struct {
	Op         *transport.Op
	Code       string // of the service
	Message    string // of the service, redacted
	HTTPStatus int
	Attempts   int
	RetryAfter time.Duration
	Raw        []byte // what arrived, redacted; nil if it was understood

	Ambiguous    bool
	Undecodable  bool
	TokenRefused bool
	NoToken      bool // Config.TokenSource gave none
	Unsent       bool
	Detail       string // our words, redacted
	Cause        error  // redacted
}

// Is supports errors.Is with the sentinels of this package.
func (f *Failure) Is(target error) bool {
	switch target {
	case ErrAmbiguous:
		return f.Ambiguous
	case ErrUndecodable:
		return f.Undecodable
	case ErrTokenRefused:
		return f.TokenRefused
	case ErrTokenSource:
		return f.NoToken
	}
	return false
}

// SafeToRetry reports whether the operation may be repeated without losing or doubling
// anything.
func (f *Failure) SafeToRetry() bool {
	return !f.Ambiguous || f.Op.Class == transport.Idempotent || f.Op.Class == transport.ReadOnly
}

// Text returns the error's text: package, operation, subject, what happened, what to do.
func (f *Failure) Text(pkg, subject string) string {
	var b strings.Builder
	b.WriteString(pkg + ": " + f.Op.Name)
	if subject != "" {
		b.WriteString(" " + subject)
	}
	for _, part := range []string{f.answer(), f.Detail, f.cause(), f.advice()} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	if f.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", f.Attempts)
	}
	return b.String()
}

func (f *Failure) answer() string {
	var parts []string
	for _, part := range []string{f.Code, f.Message} {
		if part != "" {
			parts = append(parts, printable(part))
		}
	}
	if f.HTTPStatus != 0 {
		parts = append(parts, fmt.Sprintf("HTTP %d", f.HTTPStatus))
	}
	return strings.Join(parts, ", ")
}

func (f *Failure) cause() string {
	if f.Cause == nil {
		return ""
	}
	return f.Cause.Error()
}

func (f *Failure) advice() string {
	switch {
	case f.Ambiguous:
		return "ambiguous: " + f.Op.IfLost
	case f.Unsent:
		return "nothing was sent; it is safe to call again"
	case f.TokenRefused:
		return "check the API token"
	}
	return ""
}

// LogValue groups the failure for slog.
func (f *Failure) LogValue(extra ...slog.Attr) slog.Value {
	attrs := append([]slog.Attr{slog.String("op", f.Op.Name)}, extra...)
	if f.Code != "" {
		attrs = append(attrs, slog.String("code", f.Code))
	}
	if f.Message != "" {
		attrs = append(attrs, slog.String("message", f.Message))
	}
	if f.HTTPStatus != 0 {
		attrs = append(attrs, slog.Int("http_status", f.HTTPStatus))
	}
	if f.Detail != "" {
		attrs = append(attrs, slog.String("detail", f.Detail))
	}
	if f.Cause != nil {
		attrs = append(attrs, slog.String("cause", f.Cause.Error()))
	}
	attrs = append(attrs,
		slog.Int("attempts", f.Attempts),
		slog.Bool("ambiguous", f.Ambiguous),
		slog.Bool("safe_to_retry", f.SafeToRetry()))
	return slog.GroupValue(attrs...)
}

const maxPrinted = 200

// printable limits the length of s, which comes from outside, and keeps it on one line.
func printable(s string) string {
	if len(s) > maxPrinted {
		s = s[:maxPrinted] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
