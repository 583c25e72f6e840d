//go:build unix

package torture

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
)

// open opens the inbox. Nothing is left open if it fails.
func (c *shop) open(ctx context.Context) (*inbox.Inbox, error) {
	cfg := inbox.Config{
		Client: c.confirmer(), Handler: c.handle, Catalogue: map[string]inbox.Product{},
		HandlerTimeout: 5 * time.Second, MaxAttempts: 1_000_000, BackoffMin: 10 * time.Millisecond, BackoffMax: 500 * time.Millisecond,
		ConfirmRate: 20, ReconcileEvery: 10 * time.Second, Logger: quiet,
	}
	if c.Calm {
		cfg.ConfirmRate = 500
	}
	if cfg.OnlyCreated = c.OnlyCreated; c.OnlyCreated {
		c.Products = nil
	}
	for id, price := range c.Products {
		cfg.Catalogue[id] = inbox.Product{Price: payments.NewAmount(price)}
	}
	if c.SQLite != "" {
		ledger, err := sqlite.Open(c.SQLite, nil)
		if err != nil {
			return nil, err
		}
		cfg.SQLite, c.ledger = ledger, ledger.Writer
	} else {
		pg, err := pgx.ParseConfig(c.DSN)
		if err != nil {
			return nil, err
		}
		pg.ConnectTimeout = 2 * time.Second
		cfg.DB = sql.OpenDB(c.connector(*pg))
		c.ledger = cfg.DB
	}
	box, err := inbox.Open(ctx, cfg)
	if err != nil {
		if cfg.SQLite != nil {
			return nil, errors.Join(err, cfg.SQLite.Close())
		}
		return nil, errors.Join(err, cfg.DB.Close())
	}
	return box, nil
}

const effectsTable = `CREATE TABLE effects (payment_id text NOT NULL, identifier text NOT NULL, product text NOT NULL, amount text NOT NULL, pid integer NOT NULL, at bigint NOT NULL)`

// handle grants: one row. It is slow, fails and panics now and then, and looks at no
// context, like the handlers of some merchants.
func (c *shop) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	ctx = context.WithoutCancel(ctx)
	if c.Mutant == doneAtEnd || c.Mutant == outside {
		c.dawdle()
	}
	if c.Mutant == slow && c.begun.Add(1) == 10 {
		<-time.After(3 * slowPatience)
	}
	if c.Mutant == outside {
		return errors.Join(c.effect(ctx, c.ledger, p), c.stumble())
	}
	if err := c.effect(ctx, tx, p); err != nil {
		return err
	}
	if c.Mutant == doneAtEnd {
		_, err := tx.ExecContext(ctx, `UPDATE depositpay_payments SET done_at = 1, stage = 3 WHERE stage = 2 AND payment_id = $1`, p.ID.String())
		return err
	}
	return c.stumble()
}

// slowPatience is that of the campaign which is to find the slow merchant.
const slowPatience = 2 * time.Second

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// effect says what was granted for which payment, and to whom.
func (c *shop) effect(ctx context.Context, to execer, p payments.Payment) error {
	_, err := to.ExecContext(ctx, `INSERT INTO effects (payment_id, identifier, product, amount, pid, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		p.ID.String(), p.Identifier, p.Metadata.GameProduct, p.PaidAmount.String(), os.Getpid(), time.Now().UnixMicro())
	return err
}

// stumble is what happens to handlers, after they have written.
func (c *shop) stumble() error {
	if c.Calm {
		return nil
	}
	switch n := rand.IntN(1000); {
	case n < 10:
		return fmt.Errorf("no stock, says the merchant")
	case n < 15:
		panic("a bug of the merchant")
	case n < 18 && c.SQLite == "":
		<-time.After(shortLease + time.Duration(rand.Int64N(int64(shortLease)))) // beyond the lease
	case n < 60:
		<-time.After(time.Duration(rand.Int64N(int64(30 * time.Millisecond))))
	}
	return nil
}

// dawdle gives others the time to claim what this one has.
func (c *shop) dawdle() {
	if rand.IntN(20) == 0 && !c.Calm {
		<-time.After(shortLease/2 + time.Duration(rand.Int64N(int64(shortLease))))
	}
}
