package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Statuses of an order. An open order whose deadline has passed is still paid if the goods are there.
const (
	open      = "open"
	paid      = "paid"
	cancelled = "cancelled"
	soldOut   = "sold_out"

	// Outcomes of a deposit, besides paid and soldOut.
	paidTwice   = "paid_twice"
	afterCancel = "after_cancel"
	rejected    = "rejected" // in the inbox; not in the table
)

// lockOrder makes other payments for the same order wait until the transaction ends.
const lockOrder = `UPDATE orders SET status = status WHERE id = $1 RETURNING status, total`

// grant is the handler of the inbox, and the only place where money becomes goods. Everything that it
// writes goes through tx, which also marks the payment done. So an order is paid once and the stock
// goes down once, whenever a process is killed.
//
// It runs for payments that match their order, and for others that the office has approved. Money that
// buys nothing is recorded as owed.
func (s *shop) grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if p.ID == uuid.Nil {
		return inbox.Cancel(fmt.Errorf("the record for order %q has no payment id, so it may be a duplicate", p.Identifier))
	}
	amount, whole := p.PaidAmount.Int64()
	if !whole {
		return inbox.Cancel(fmt.Errorf("payment %s of %s is not a whole number of won", p.ID, p.PaidAmount))
	}
	var status string
	var total int64
	err := tx.QueryRowContext(ctx, lockOrder, p.Identifier).Scan(&status, &total)
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
	_, err = tx.ExecContext(ctx, `INSERT INTO deposits (payment, order_id, amount, outcome, owed, verified_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, p.ID.String(), p.Identifier, amount, outcome, owed, p.VerifiedAt.Unix())
	return err
}

// sell takes the goods of an open order from the stock and marks the order paid, or sold out if one of
// them is missing.
func sell(ctx context.Context, tx *sql.Tx, id string) (status string, err error) {
	lines, err := linesOf(ctx, tx, id) // sorted: every replica locks the products in the same order
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
	return changed(ctx, tx, `UPDATE stock SET count = count - $2 WHERE product = $1 AND count >= $2`, product, count)
}
