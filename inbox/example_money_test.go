package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// moneyTables are an order with what it costs and what has arrived, and a line for each deposit with
// what the customer gets back.
const moneyTables = `
CREATE TABLE shop_orders (
	id       TEXT PRIMARY KEY,
	total    BIGINT NOT NULL,
	received BIGINT NOT NULL DEFAULT 0,
	status   TEXT NOT NULL DEFAULT 'open' -- open, paid, cancelled
);
CREATE TABLE shop_deposits (
	payment  TEXT PRIMARY KEY,
	order_id TEXT NOT NULL,
	paid     BIGINT NOT NULL,
	owed     BIGINT NOT NULL
);`

// book is a handler that adds up. It returns nil for money that buys nothing, too, and writes down
// what is owed.
func book(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	paid, whole := p.PaidAmount.Int64()
	if !whole {
		return inbox.Cancel(errors.New("not a whole number of won"))
	}
	var status string
	var total, received int64
	err := tx.QueryRowContext(ctx, `UPDATE shop_orders SET received = received + $2 WHERE id = $1 RETURNING status, total, received`,
		p.Identifier, paid).Scan(&status, &total, &received)
	if errors.Is(err, sql.ErrNoRows) {
		return inbox.Cancel(errors.New("no such order"))
	}
	if err != nil {
		return err
	}
	owed := int64(0)
	switch {
	case status != "open": // paid before, or cancelled
		owed = paid
	case received >= total: // ship
		owed = received - total
		if _, err := tx.ExecContext(ctx, `UPDATE shop_orders SET status = 'paid' WHERE id = $1`, p.Identifier); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO shop_deposits (payment, order_id, paid, owed) VALUES ($1, $2, $3, $4)`, p.ID.String(), p.Identifier, paid, owed)
	return err
}

// cancelOrder cancels an order that is open. A part of the sum that has arrived is owed.
func cancelOrder(ctx context.Context, db *sql.DB, id string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.ExecContext(ctx, `UPDATE shop_orders SET status = 'cancelled' WHERE id = $1 AND status = 'open'`, id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errors.New("the order is not open"))
	}
	if _, err := tx.ExecContext(ctx, `UPDATE shop_deposits SET owed = paid WHERE order_id = $1`, id); err != nil {
		return err
	}
	return tx.Commit()
}

// openMoneyShop is a shop with one order of 10000.
func openMoneyShop() exampleShop {
	shop := openExampleShop(book)
	_, err := shop.db.Writer.Exec(moneyTables)
	check(err)
	_, err = shop.db.Writer.Exec(`INSERT INTO shop_orders (id, total) VALUES ('order-1', 10000)`)
	check(err)
	return shop
}

// booked is the order, with its deposits in the order of their sums.
func (s exampleShop) booked() string {
	var status string
	var received int64
	check(s.db.Reader.QueryRow(`SELECT status, received FROM shop_orders WHERE id = 'order-1'`).Scan(&status, &received))
	text := fmt.Sprintf("%s, received %d", status, received)
	rows, err := s.db.Reader.Query(`SELECT paid, owed FROM shop_deposits ORDER BY paid, owed`)
	check(err)
	for rows.Next() {
		var paid, owed int64
		check(rows.Scan(&paid, &owed))
		text += fmt.Sprintf("; paid %d owed %d", paid, owed)
	}
	check(errors.Join(rows.Err(), rows.Close()))
	return text
}

// Too little: the payment waits in review. After Approve the handler books it, and a second payment
// with the same identifier asks for the rest.
func Example_underpaid() {
	shop := openMoneyShop()
	defer shop.close()
	ctx, box := context.Background(), shop.box
	short := shop.pay("order-1", mockserver.Deposit{Payer: "Kim", Amount: 4000})
	shop.settle(1)
	entry, err := box.Get(ctx, short.PayToken.String())
	check(err)
	fmt.Println(entry.Stage, entry.Reason, entry.Payment.PaidAmount)

	key := short.PayToken.String()
	err = box.Approve(ctx, key, inbox.Decision{Actor: "park", Reason: "books 4000; the customer sends the rest"})
	check(err)
	shop.runUntil(inbox.StageDone)
	fmt.Println("after the first:", shop.booked())

	rest, err := box.Create(ctx, payments.CreateRequest{Title: "Sword, the rest", Identifier: "order-1", Amount: payments.NewAmount(6000)})
	check(err)
	_, err = shop.mock.Deposit(rest.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	shop.settle(2)
	fmt.Println("after the rest:", shop.booked())
	// Output:
	// review underpaid 4000
	// after the first: open, received 4000; paid 4000 owed 0
	// after the rest: paid, received 10000; paid 4000 owed 0; paid 6000 owed 0
}

// Too much: the payment waits in review. After Approve the handler ships, and writes down the difference.
func Example_overpaid() {
	shop := openMoneyShop()
	defer shop.close()
	over := shop.pay("order-1", mockserver.Deposit{Payer: "Kim", Amount: 13_000})
	waiting := shop.runUntil(inbox.StageReview)
	fmt.Println(waiting.Reason)
	check(shop.box.Approve(context.Background(), over.PayToken.String(), inbox.Decision{Actor: "park", Reason: "3000 go back"}))
	shop.runUntil(inbox.StageDone)
	fmt.Println("after Approve:", shop.booked())
	// Output:
	// overpaid
	// after Approve: paid, received 13000; paid 13000 owed 3000
}

// Twice: the customer opened the checkout twice and paid both links. Each payment matches its own
// registration, so both reach the handler, and the handler sees that the order is paid.
func Example_paidTwice() {
	shop := openMoneyShop()
	defer shop.close()
	shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	shop.settle(2)
	fmt.Println("both links paid:", shop.booked())
	// Output:
	// both links paid: paid, received 20000; paid 10000 owed 0; paid 10000 owed 10000
}

// Late: the inbox has stopped asking for the payment (Config.OutstandingFor, 7 days). A webhook or a poll
// still brings it, and it is matched with its order as on the first day.
func Example_paidLate() {
	shop := openMoneyShop()
	defer shop.close()
	ctx := context.Background()
	check(shop.box.Close()) // the same ledger again, which asks for a nanosecond
	var err error
	shop.box, err = inbox.Open(ctx, inbox.Config{SQLite: shop.db, Client: shop.client, Handler: book, OutstandingFor: time.Nanosecond})
	check(err)
	defer func() { check(shop.box.Close()) }()
	late := shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	report, err := shop.box.Reconcile(ctx)
	check(err)
	fmt.Println("asked for:", report.Asked)

	record, err := shop.client.Confirm(ctx, late.PayToken) // as webhook.Handler does
	check(err)
	check(shop.box.Webhook().Accept(ctx, record))
	shop.settle(1)
	fmt.Println("after the webhook:", shop.booked())
	// Output:
	// asked for: 0
	// after the webhook: paid, received 10000; paid 10000 owed 0
}

// Cancelled: the link cannot be called back, so the money may still come. It matches its registration and
// reaches the handler, which does not ship.
func Example_paidAfterCancelling() {
	shop := openMoneyShop()
	defer shop.close()
	created, err := shop.box.Create(context.Background(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	check(cancelOrder(context.Background(), shop.db.Writer, "order-1"))
	_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	shop.settle(1)
	fmt.Println("after cancelling:", shop.booked())
	// Output:
	// after cancelling: cancelled, received 10000; paid 10000 owed 10000
}

// Refund: send the money first, then reject. The handler never runs, and the ledger keeps who sent what.
func Example_refund() {
	shop := openMoneyShop()
	defer shop.close()
	ctx, box := context.Background(), shop.box
	key := shop.pay("order-1", mockserver.Deposit{Payer: "Kim", Amount: 4000}).PayToken.String()
	shop.runUntil(inbox.StageReview)
	err := box.Reject(ctx, key, inbox.Decision{Actor: "park", Reason: "sent 4000 back, transfer 2026-11-22 no. 17"})
	check(err)
	entry, err := box.Get(ctx, key)
	check(err)
	fmt.Println(entry.Stage, entry.Reason)
	lines, err := box.Audit(ctx, key)
	check(err)
	fmt.Println(lines[0].Action, "by", lines[0].Decision.Actor+":", lines[0].Decision.Reason)
	fmt.Println("the order:", shop.booked())

	check(box.Retry(ctx, key, inbox.Decision{Actor: "park", Reason: "the transfer came back"})) // checked again
	fmt.Println(shop.runUntil(inbox.StageReview).Reason)
	// Output:
	// dead rejected: underpaid
	// reject by park: sent 4000 back, transfer 2026-11-22 no. 17
	// the order: open, received 0
	// underpaid
}
