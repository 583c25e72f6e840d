// Package contain keeps the panics of code that a merchant gave to the SDK from
// ending the process: they become errors of the one payment that they concern.
package contain

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Panic is a panic of code that was given to the SDK.
type Panic struct {
	what  string
	value any
	stack []byte
}

// Error returns "poller: Sink.Accept panicked: …".
func (p *Panic) Error() string { return fmt.Sprintf("%s panicked: %v", p.what, p.value) }

// Unwrap returns the value of the panic if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// Call runs f and turns its panic into a *Panic. what names f, with its package.
func Call(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{what: what, value: value, stack: debug.Stack()}
		}
	}()
	return f()
}

// Attrs are err for a log record, with the stack if it was a panic; none for nil.
func Attrs(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	attrs := []slog.Attr{slog.String("error", err.Error())}
	if p, ok := errors.AsType[*Panic](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	return attrs
}
