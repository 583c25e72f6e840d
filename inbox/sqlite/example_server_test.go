package sqlite_test

import (
	"context"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
)

// In a server: the ledger outlives the inbox.
func ExampleOpen_server() {
	serve := func(ctx context.Context, cfg inbox.Config) error {
		ledger, err := sqlite.Open("/var/lib/shop/payments.db", nil)
		if err != nil {
			return err
		}
		defer ledger.Close()
		cfg.SQLite = ledger
		box, err := inbox.Open(ctx, cfg)
		if err != nil {
			return err
		}
		defer box.Close()
		return box.Run(ctx)
	}
	_ = serve
}
