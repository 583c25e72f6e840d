package inbox

import (
	"context"
	"time"
)

// WithLease shortens the lease below the handler's time-out, which no Config can say:
// what a stopped process may do after its lease is then up to the fence alone.
func WithLease(cfg Config, lease time.Duration) Config {
	cfg.shortLease = lease
	return cfg
}

func DropBodies(b *Inbox) error {
	for {
		more, err := b.dropBodies(context.Background())
		if err != nil || !more {
			return err
		}
	}
}
