//go:build unix

package torture

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// open opens the inbox. If it fails, nothing stays open.
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

// handle grants a payment: one row. It sometimes is slow, fails or panics, and it ignores
// its context, as some merchants' handlers do.
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

// slowPatience is the patience of the campaign that must find the slow merchant.
const slowPatience = 2 * time.Second

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// effect writes what was granted for which payment and to whom.
func (c *shop) effect(ctx context.Context, to execer, p payments.Payment) error {
	_, err := to.ExecContext(ctx, `INSERT INTO effects (payment_id, identifier, product, amount, pid, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		p.ID.String(), p.Identifier, p.Metadata.GameProduct, p.PaidAmount.String(), os.Getpid(), time.Now().UnixMicro())
	return err
}

// stumble makes a handler fail, panic or wait after it has written.
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

// dawdle waits now and then, so that others can claim the payment.
func (c *shop) dawdle() {
	if rand.IntN(20) == 0 && !c.Calm {
		<-time.After(shortLease/2 + time.Duration(rand.Int64N(int64(shortLease))))
	}
}

func (c *shop) poll(ctx context.Context, cfg poller.Config) error {
	cfg.Client, cfg.Logger = c.source(), quiet
	cfg.IntervalMin, cfg.IntervalMax, cfg.BackoffMax = 50*time.Millisecond, 100*time.Millisecond, time.Second
	cfg.OnEvent = func(e poller.Event) {
		if e.Kind == poller.KindAmbiguous {
			child.PrintLine("ambiguous", time.Now().UnixMicro())
		}
	}
	p, err := poller.New(cfg)
	if err != nil {
		return err
	}
	err = p.Run(ctx)
	if unhanded, ok := errors.AsType[*poller.UnhandedError](err); ok { // the database was away: save them, as the guide says
		for _, payment := range unhanded.Payments {
			text, err := json.Marshal(payment)
			if err != nil {
				return err
			}
			child.PrintLine("unhanded", string(text))
		}
		return nil
	}
	return err
}

// takeUnhanded hands over what the process before has saved.
func (c *shop) takeUnhanded(ctx context.Context, s poller.Sink) {
	for _, payment := range c.Unhanded {
		for s.Accept(ctx, payment) != nil && ctx.Err() == nil {
			<-time.After(50 * time.Millisecond)
		}
	}
}

// reconcile prints a line each time all known ids have been confirmed.
func (c *shop) reconcile(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := c.box.Reconcile(ctx); err == nil {
			child.PrintLine("reconciled")
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

const (
	claimStart = "WITH c AS (SELECT p.payment_id FROM depositpay_payments p\n\t\tWHERE p.stage = 2"
	fenceStart = "UPDATE depositpay_payments SET stage = 3"
)

// connector returns connections that shorten the leases of claims, which Config does not
// allow (a lease must outlast the handler), and that break the fence for the mutant
// doneAtEnd. The inbox needs no hook for either.
func (c *shop) connector(pg pgx.ConnConfig) pgtest.Rewriting {
	return pgtest.Rewriting{
		Connector: stdlib.GetConnector(pg),
		Query: func(statement string) string {
			if !strings.HasPrefix(statement, claimStart) {
				return statement
			}
			short := fmt.Sprintf("least($2::bigint, %d)", shortLease.Microseconds())
			return mustReplace(statement, "+ $2, wait = $2, attempt", "+ "+short+", wait = "+short+", attempt")
		},
		Exec: func(statement string) string {
			if c.Mutant == doneAtEnd && strings.HasPrefix(statement, fenceStart) {
				return "SELECT $1::text, $2::bigint" // "touches" one row
			}
			return statement
		},
	}
}

// mustReplace panics if the inbox's statement has changed.
func mustReplace(statement, old, with string) string {
	replaced := strings.Replace(statement, old, with, 1)
	if replaced == statement {
		panic("the statement reads otherwise now: " + statement)
	}
	return replaced
}
