package sqlite_test

import (
	"context"
	"errors"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
)

// In a server: the ledger outlives the inbox. It is not run here, for its path is a server's.
func ExampleOpen_server() {
	serve := func(ctx context.Context, cfg inbox.Config) error {
		ledger, err := sqlite.Open("/var/lib/shop/payments.db", nil)
		if err != nil {
			return err
		}
		defer ledger.Close() //nolint:errcheck // as in the documentation: what is acknowledged is on the disk
		cfg.SQLite = ledger
		box, err := inbox.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return errors.Join(box.Run(ctx), box.Close())
	}
	_ = serve
}
