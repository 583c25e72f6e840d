package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Order statuses. An open order whose deadline has passed is called expired on the
// pages, and is still paid if the goods are there.
const (
	open      = "open"
	paid      = "paid"
	cancelled = "cancelled"
	soldOut   = "sold_out"
)

// What became of a deposit, besides paid and soldOut.
const (
	paidTwice   = "paid_twice"
	afterCancel = "after_cancel"
	rejected    = "rejected"
)

// grant is the handler of the inbox, and the one place where money becomes goods. All
// that it writes goes through tx, which also marks the payment done: so an order is
// paid once and the stock goes down once, whatever is killed in between.
//
// It is called for payments that match their order, and for others that the shopkeeper
// has approved. Money that buys nothing is never dropped: it is written down as owed.
func (s *shop) grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if p.ID == uuid.Nil {
		return inbox.Cancel(fmt.Errorf("the record for order %q names no payment, so a repeat could not be told from it", p.Identifier))
	}
	amount, whole := p.PaidAmount.Int64()
	if !whole {
		return inbox.Cancel(fmt.Errorf("payment %s of %s is not a whole number of won", p.ID, p.PaidAmount))
	}
	status, total, err := lockOrder(ctx, tx, p.Identifier)
	if errors.Is(err, sql.ErrNoRows) {
		return inbox.Cancel(fmt.Errorf("payment %s: there is no order %q", p.ID, p.Identifier))
	}
	if err != nil {
		return err
	}
	outcome, owed := status, amount
	switch status {
	case paid:
		outcome = paidTwice
	case cancelled:
		outcome = afterCancel
	case open:
		if outcome, err = sell(ctx, tx, p.Identifier); err != nil {
			return err
		}
		if outcome == paid {
			owed = max(0, amount-total)
		}
	}
	return recordDeposit(ctx, tx, p, outcome, amount, owed)
}

// lockOrder keeps other payments for the same order waiting until tx ends.
func lockOrder(ctx context.Context, tx *sql.Tx, id string) (status string, total int64, err error) {
	err = tx.QueryRowContext(ctx, `UPDATE orders SET status = status WHERE id = $1 RETURNING status, total`, id).Scan(&status, &total)
	return status, total, err
}

// sell takes the goods of an open order out of the stock and marks the order paid, or
// sold out if they are not all there.
func sell(ctx context.Context, tx *sql.Tx, id string) (status string, err error) {
	// Each replica locks the products in the same order, so none waits for another in a ring.
	lines, err := linesOf(ctx, tx, id)
	if err != nil {
		return "", err
	}
	status = paid
	for i, l := range lines {
		enough, err := take(ctx, tx, l.Product, l.Count)
		if err != nil {
			return "", err
		}
		if enough {
			continue
		}
		status = soldOut
		for _, taken := range lines[:i] {
			if _, err := take(ctx, tx, taken.Product, -taken.Count); err != nil {
				return "", err
			}
		}
		break
	}
	_, err = tx.ExecContext(ctx, `UPDATE orders SET status = $2 WHERE id = $1`, id, status)
	return status, err
}

func take(ctx context.Context, tx *sql.Tx, product string, count int64) (enough bool, err error) {
	result, err := tx.ExecContext(ctx, `UPDATE stock SET count = count - $2 WHERE product = $1 AND count >= $2`, product, count)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// recordDeposit writes down what became of the money. A payment that was rejected and
// approved at the same moment, or whose record the service has fixed since, changes its
// line, unless the money has gone back already.
func recordDeposit(ctx context.Context, tx *sql.Tx, p payments.Payment, outcome string, amount, owed int64) error {
	result, err := tx.ExecContext(ctx, `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (payment) DO UPDATE SET order_id = excluded.order_id, amount = excluded.amount, method = excluded.method,
		verified_at = excluded.verified_at, outcome = excluded.outcome, give_back = excluded.give_back WHERE deposits.returned_at = 0`,
		p.ID.String(), p.Identifier, amount, plain(string(p.Method)), max(0, p.VerifiedAt.Unix()), outcome, owed)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, inbox.Cancel(fmt.Errorf("payment %s was given back already, so it buys nothing", p.ID)))
	}
	return nil
}

// plain is a text of the service as every database takes it: PostgreSQL refuses some bytes,
// and money must not stay off the books for them.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}
