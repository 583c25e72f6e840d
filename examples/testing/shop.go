// Package shop is a small merchant, here to be tested: shop_test.go is the example.
package shop

import (
	"context"
	"database/sql"
	"errors"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// Shop takes orders and hears by webhook that they are paid.
type Shop struct {
	Client *payments.Client
	ledger *inbox.SQLite
	Box    *inbox.Inbox
	Hook   *webhook.Handler
}

// Open opens the shop; what it knows is in file.
func Open(ctx context.Context, file string, service payments.Config) (s *Shop, err error) {
	s = &Shop{}
	if s.Client, err = payments.New(service); err != nil {
		return nil, err
	}
	if s.ledger, err = sqlite.Open(file, nil); err != nil {
		return nil, err
	}
	if _, err = s.ledger.Writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, shipped INTEGER NOT NULL DEFAULT 0)`); err == nil {
		s.Box, err = inbox.Open(ctx, inbox.Config{SQLite: s.ledger, Client: s.Client, Handler: ship})
	}
	if err == nil {
		s.Hook, err = webhook.New(webhook.Config{Client: s.Client, Ledger: s.Box.Webhook()})
	}
	if err != nil {
		return nil, errors.Join(err, s.ledger.Close())
	}
	return s, nil
}

// ship counts, so that a test can see an order that ships twice. A payment without an order
// moves to the dead-letter list, where a person finds it.
func ship(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	result, err := tx.ExecContext(ctx, `UPDATE orders SET shipped = shipped + 1 WHERE id = $1`, p.Identifier)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, inbox.Cancel(errors.New("no such order")))
	}
	return nil
}

// Order takes an order and returns the payToken of its payment.
func (s *Shop) Order(ctx context.Context, id string, price int64) (payToken string, err error) {
	if _, err := s.ledger.Writer.ExecContext(ctx, `INSERT INTO orders (id) VALUES ($1)`, id); err != nil {
		return "", err
	}
	created, err := s.Box.Create(ctx, payments.CreateRequest{Title: "Tea", Identifier: id, Amount: payments.NewAmount(price)})
	return created.PayToken.String(), err
}

// Shipped is how often an order was shipped.
func (s *Shop) Shipped(ctx context.Context, id string) (n int, err error) {
	err = s.ledger.Reader.QueryRowContext(ctx, `SELECT shipped FROM orders WHERE id = $1`, id).Scan(&n)
	return n, err
}

// Close closes the shop, once Box.Run has returned.
func (s *Shop) Close() error {
	s.Client.CloseIdleConnections()
	return errors.Join(s.Box.Close(), s.ledger.Close())
}
