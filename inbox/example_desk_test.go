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

// grantAll is a handler that has nothing to object.
func grantAll(context.Context, *sql.Tx, payments.Payment) error { return nil }

// pay is a customer who orders for 10000, and deposits.
func (s exampleShop) pay(identifier string, deposit mockserver.Deposit) payments.Created {
	created, err := s.box.Create(context.Background(), payments.CreateRequest{Title: "Sword", Identifier: identifier, Amount: payments.NewAmount(10000)})
	check(err)
	_, err = s.mock.Deposit(created.PayToken.String(), deposit)
	check(err)
	return created
}

// settle runs the inbox until so many payments are done or wait for a person.
func (s exampleShop) settle(payments int64) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	running := make(chan error, 1)
	go func() { running <- s.box.Run(ctx) }()
	for settled := int64(-1); settled != payments; {
		<-time.After(time.Millisecond)
		status, err := s.box.Status(ctx)
		check(err)
		settled = status.Count[inbox.StageDone] + status.Count[inbox.StageReview] + status.Count[inbox.StageDead]
	}
	stop()
	check(<-running)
}

// What waits for a person, for a page of the back office.
func ExampleInbox_List() {
	shop := openExampleShop(grantAll)
	defer shop.close()
	shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	shop.pay("order-2", mockserver.Deposit{Payer: "Lee", Amount: 9000})
	shop.pay("order-3", mockserver.Deposit{Payer: "Park", Amount: 12000})
	shop.settle(3)

	waiting := inbox.Filter{Stages: []inbox.Stage{inbox.StageReview, inbox.StageDead}}
	for entry, err := range shop.box.List(context.Background(), waiting) {
		check(err)
		fmt.Println(entry.Payment.Identifier, entry.Stage, entry.Reason, entry.Payment.PaidAmount)
	}
	// Unordered output:
	// order-2 review underpaid 9000
	// order-3 review overpaid 12000
}

// The key of a payment is its id, which is the payToken of its creation.
func ExampleInbox_Get() {
	shop := openExampleShop(grantAll)
	defer shop.close()
	created := shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	shop.settle(1)

	entry, err := shop.box.Get(context.Background(), created.PayToken.String())
	check(err)
	fmt.Println(entry.Payment.Identifier, entry.Stage, "own:", entry.Own, "tries:", entry.Tries, "done:", !entry.DoneAt.IsZero())
	// Output: order-1 done own: true tries: 1 done: true
}

// The handler gave up. Somebody fixes the cause, and has it run again.
func ExampleInbox_Retry() {
	gameIsUp := false
	shop := openExampleShop(func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
		if !gameIsUp {
			return inbox.Cancel(errors.New("the game has no such item"))
		}
		fmt.Println("granted", p.Identifier)
		return nil
	})
	defer shop.close()
	key := shop.pay("order-1", mockserver.Deposit{Payer: "Kim"}).PayToken.String()
	shop.settle(1)

	gameIsUp = true
	check(shop.box.Retry(context.Background(), key, inbox.Decision{Actor: "park", Reason: "the item is back"}))
	shop.settle(1)
	err := shop.box.Retry(context.Background(), key, inbox.Decision{Actor: "park", Reason: "once more"})
	fmt.Println("what is done runs no more:", errors.Is(err, inbox.ErrStage))
	// Output:
	// granted order-1
	// what is done runs no more: true
}

// Who decided what about a payment, and why.
func ExampleInbox_Audit() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return inbox.Cancel(errors.New("sold out")) })
	defer shop.close()
	ctx := context.Background()
	key := shop.pay("order-1", mockserver.Deposit{Payer: "Kim", Amount: 9000}).PayToken.String()
	shop.settle(1)
	check(shop.box.Approve(ctx, key, inbox.Decision{Actor: "park", Reason: "a regular; let it pass"}))
	shop.settle(1)
	check(shop.box.Retry(ctx, key, inbox.Decision{Actor: "lee", Reason: "new stock"}))
	shop.settle(1)

	lines, err := shop.box.Audit(ctx, key)
	check(err)
	for _, line := range lines {
		fmt.Printf("%s by %s: %s\n", line.Action, line.Decision.Actor, line.Decision.Reason)
	}
	// Output:
	// approve by park: a regular; let it pass
	// retry by lee: new stock
}

// What arrived for a payment, and what became of the runs that did not succeed.
func ExampleInbox_Receipts() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return inbox.Cancel(errors.New("sold out")) })
	defer shop.close()
	key := shop.pay("order-1", mockserver.Deposit{Payer: "Kim"}).PayToken.String()
	shop.settle(1)

	receipts, err := shop.box.Receipts(context.Background(), key)
	check(err)
	for _, r := range receipts {
		if r.Channel == 0 {
			fmt.Println("run", r.Attempt, r.Outcome, "because", r.Body)
			continue
		}
		fmt.Println("record", r.Outcome, "by reconciliation:", r.Channel.Has(inbox.ChannelReconcile))
	}
	// Output:
	// record accepted by reconciliation: true
	// run 1 dead because sold out
}
