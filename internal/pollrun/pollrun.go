// Package pollrun tells a durable sink which run of a poller a poll belongs to: several
// pollers may share one sink, and one that ends must not close what another has open.
package pollrun

import (
	"context"

	"github.com/google/uuid"
)

type key struct{}

// With returns a context of a new run.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, uuid.NewString())
}

// ID is the run of a context; "" if it is of none.
func ID(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}
