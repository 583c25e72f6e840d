// Package safecall calls the merchant's code (handlers, hooks, sources) and turns a
// panic into an error of the payment at hand, so that it does not end the process.
package safecall

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// PanicError is a recovered panic of the merchant's code.
type PanicError struct {
	what  string
	value any
	stack []byte
}

// Error returns "poller: Sink.Accept panicked: …".
func (p *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", p.what, p.value) }

// Unwrap returns the panic's value if that is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// Do runs f and turns its panic into a *PanicError. what names f, with its package.
func Do(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{what: what, value: value, stack: debug.Stack()}
		}
	}()
	return f()
}

// Attrs returns err as log attributes, with the stack if it was a panic; none for nil.
func Attrs(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	attrs := []slog.Attr{slog.String("error", err.Error())}
	if p, ok := errors.AsType[*PanicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	return attrs
}
