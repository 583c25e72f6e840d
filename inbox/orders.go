package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// Create creates a payment with the service and registers what to expect: identifier, amount and items
// of req. The order is durable before the service is called, so the inbox knows of every payment that
// completes: if the process dies in between, the record is matched by its identifier.
//
// If the error is payments.ErrAmbiguous, a payment may exist that nobody can pay, since its link is
// unknown. If the error says that the payment was created but not registered, Created is set: call
// Expect, or do not give the link out.
func (b *Inbox) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	if err := req.Validate(); err != nil {
		return payments.Created{}, err
	}
	order, err := b.order(ctx, req)
	if err != nil {
		return payments.Created{}, err
	}
	created, err := b.cfg.Client.Create(ctx, req)
	if err != nil {
		return payments.Created{}, b.notCreated(context.WithoutCancel(ctx), order, err)
	}
	// The payment exists now: register it even if the caller gives up.
	if err := b.bind(context.WithoutCancel(ctx), order, created.PayToken); err != nil {
		return created, fmt.Errorf("inbox: payment %s was created and not registered: %w", created.PayToken, err)
	}
	return created, nil
}

// notCreated removes the order if the service certainly has no payment for it: it would match a later
// payment of the same identifier.
func (b *Inbox) notCreated(ctx context.Context, order op, err error) error {
	if _, ok := errors.AsType[*payments.Error](err); !ok || errors.Is(err, payments.ErrAmbiguous) {
		return err // there may be a payment
	}
	order.Kind = opCancel
	if cancelErr := b.intake.put(ctx, order); cancelErr != nil {
		return errors.Join(err, fmt.Errorf("inbox: the order of identifier %q stays open: %w", order.Identifier, cancelErr))
	}
	return err
}

// Expect registers what to expect of a payment that was created elsewhere. Calling it again for the
// same payment changes nothing: the first registration counts.
func (b *Inbox) Expect(ctx context.Context, payToken uuid.UUID, req payments.CreateRequest) error {
	if payToken == uuid.Nil {
		return fmt.Errorf("inbox: Expect: payToken is the nil UUID")
	}
	order, err := b.order(ctx, req)
	if err != nil {
		return err
	}
	return b.bind(ctx, order, payToken)
}

// order stores an order that has no payment yet.
func (b *Inbox) order(ctx context.Context, req payments.CreateRequest) (op, error) {
	items, err := json.Marshal(req.Items)
	if err != nil {
		return op{}, fmt.Errorf("inbox: items: %w", err)
	}
	id := uuid.NewString()
	o := op{
		Kind: opOrder, ID: id, OrderID: id, Identifier: identifierKey(req.Identifier),
		Amount: req.Amount.String(), Items: storable(string(items)),
	}
	return o, b.intake.put(ctx, o)
}

// bind gives the order its payment.
func (b *Inbox) bind(ctx context.Context, order op, payToken uuid.UUID) error {
	order.Kind, order.ID = opBind, payToken.String()
	if err := b.intake.put(ctx, order); err != nil {
		return err
	}
	b.intake.states.add(payToken, webhook.StateExpected)
	return nil
}

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
