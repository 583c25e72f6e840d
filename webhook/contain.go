package webhook

import (
	"fmt"
	"runtime/debug"
)

// panicError is a panic of code that the merchant gave us.
type panicError struct {
	what  string
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("webhook: %s panicked: %v", e.what, e.value) }

// Unwrap returns the value of the panic if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// contain runs f and turns its panic into an error.
func contain(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{what: what, value: value, stack: debug.Stack()}
		}
	}()
	return f()
}
