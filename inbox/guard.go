package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/depositpay/depositpay-go/payments"
)

// expectation is a registered order, as the ledger has it.
type expectation struct {
	orderID    string
	identifier string // as identifierKey has it
	amount     payments.Amount
	items      []payments.Item
}

func newExpectation(orderID, identifier, amount, items string) (*expectation, error) {
	e := &expectation{orderID: orderID, identifier: identifier}
	var err error
	if e.amount, err = payments.ParseAmount(amount); err != nil {
		return nil, err
	}
	return e, json.Unmarshal([]byte(restored(items)), &e.items)
}

// judge compares a payment with its order. An empty Reason means that it matches. order is the one
// registered for this payment id, else the only open order of its identifier, else nil.
func (cfg *Config) judge(p payments.Payment, order *expectation) Reason {
	switch {
	case p.PaidAmount.Sign() <= 0:
		return ReasonNoMoney
	case order != nil:
		return order.judge(p)
	case !cfg.NotBefore.IsZero() && p.VerifiedAt.Before(cfg.NotBefore):
		return ReasonTooOld
	case p.Metadata.GameProduct != "" && cfg.Catalogue != nil:
		product, known := cfg.Catalogue[p.Metadata.GameProduct]
		if !known {
			return ReasonProduct
		}
		return product.judge(p.PaidAmount)
	case cfg.AcceptUnknown:
		return ""
	}
	return ReasonUnknownOrder
}

func (e *expectation) judge(p payments.Payment) Reason {
	switch {
	case e.identifier != identifierKey(p.Identifier):
		return ReasonIdentifier
	case p.Metadata.Items != nil && !sameItems(e.items, p.Metadata.Items):
		return ReasonItems
	case e.amount.IsZero(): // the customer chooses the amount
		return ""
	case p.PaidAmount.Cmp(e.amount) < 0:
		return ReasonUnderpaid
	case p.PaidAmount.Cmp(e.amount) > 0:
		return ReasonOverpaid
	}
	return ""
}

func sameItems(want, have []payments.Item) bool {
	return slices.EqualFunc(want, have, func(a, b payments.Item) bool {
		return a.Name == b.Name && a.Price == b.Price && max(a.Count, 1) == max(b.Count, 1)
	})
}

func (p Product) judge(paid payments.Amount) Reason {
	if paid == p.Price {
		return ""
	}
	price, wholePrice := p.Price.Int64()
	amount, whole := paid.Int64()
	if p.PerItem && wholePrice && whole && price > 0 && amount%price == 0 {
		return ""
	}
	return ReasonPrice
}

// Two open orders of one identifier do not match: choosing one would be a guess.
const (
	sqlLateOrder = `SELECT order_id, identifier, amount, items FROM {p}orders WHERE payment_id = ?1`
	sqlOpenOrder = `SELECT order_id, identifier, amount, items FROM {p}orders WHERE identifier = ?1 AND payment_id IS NULL LIMIT 2`
)

// openOrder finds the order of a payment whose record came before its registration, or whose creation
// was interrupted. An empty identifier matches nothing, and game-store payments have no order.
func (b *dispatcher) openOrder(ctx context.Context, tx *sql.Tx, c *claim) (*expectation, error) {
	late, err := b.ordersBy(ctx, tx, sqlLateOrder, c.id)
	if err != nil || late != nil || c.payment.Identifier == "" || c.payment.Metadata.GameProduct != "" {
		return late, err
	}
	return b.ordersBy(ctx, tx, sqlOpenOrder, identifierKey(c.payment.Identifier))
}

// ordersBy returns the one order that a query finds, or nil.
func (b *dispatcher) ordersBy(ctx context.Context, tx *sql.Tx, query, key string) (*expectation, error) {
	rows, err := tx.QueryContext(ctx, b.d.sql(query), key)
	if err != nil {
		return nil, err
	}
	found, err := collect(rows, func(rows *sql.Rows) (*expectation, error) {
		var id, who, amount, items string
		if err := rows.Scan(&id, &who, &amount, &items); err != nil {
			return nil, err
		}
		return newExpectation(id, who, amount, items)
	})
	if err != nil || len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

var errOrderTaken = errors.New("inbox: the order was bound to another payment at the same moment")

const sqlTake = `UPDATE {p}orders SET payment_id = ?2 WHERE order_id = ?1 AND (payment_id IS NULL OR payment_id = ?2)`

// takeOrder binds an open order to the payment, in the handler's transaction.
func (b *dispatcher) takeOrder(ctx context.Context, tx *sql.Tx, e *expectation, paymentID string) error {
	result, err := tx.ExecContext(ctx, b.d.sql(sqlTake), e.orderID, paymentID)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errOrderTaken)
	}
	return nil
}
