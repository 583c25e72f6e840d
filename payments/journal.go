package payments

import "context"

type journalKey struct{}

// WithJournal returns a context that makes Next give the body of an answer that
// holds a payment to keep, before it is read any further. The payment is complete at
// the service by then, and the body is all there is of it. keep runs in the caller's
// goroutine; raw is not to be changed. Answers without a payment, and errors, are not
// given to it.
//
// If keep fails Next goes on: the record is still the best place for the payment. Its
// error is part of Next's if the body cannot be read.
func WithJournal(ctx context.Context, keep func(ctx context.Context, raw []byte) error) context.Context {
	return context.WithValue(ctx, journalKey{}, keep)
}

func journal(ctx context.Context, raw []byte) error {
	keep, ok := ctx.Value(journalKey{}).(func(context.Context, []byte) error)
	if !ok {
		return nil
	}
	return keep(context.WithoutCancel(ctx), raw)
}
