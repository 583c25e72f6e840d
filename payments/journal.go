package payments

import "context"

type journalKey struct{}

// WithJournal returns a context with which Next calls keep with the raw body of a response
// that holds a payment, before decoding it. By then the payment is complete at the service,
// and the body is its only copy. keep runs in the caller's goroutine and must not modify
// raw. It is not called for errors and for responses without a payment.
//
// If keep fails, Next continues and still returns the payment. If the body cannot be
// decoded, Next's error includes keep's.
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
