package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// A payment is expected from its creation on.
func ExampleInbox_Create() {
	shop := openExampleShop(grantAll)
	defer shop.close()
	ctx := context.Background()
	created, err := shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	state, err := shop.box.Webhook().State(ctx, created.PayToken)
	check(err)
	fmt.Println("state:", state)
	link, err := shop.client.CheckoutURL(created.PayToken) // goes to the customer
	check(err)
	fmt.Println(strings.TrimSuffix(link, created.PayToken.String()))
	// Output:
	// state: expected
	// https://pay.example.com/checkout/
}

// A verified record may be accepted any number of times. It is handed over once.
func ExampleInbox_Webhook() {
	shop := openExampleShop(func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
		fmt.Println("granted", p.Identifier)
		return nil
	})
	defer shop.close()
	ctx := context.Background()
	created := shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	paid, err := shop.client.Confirm(ctx, created.PayToken) // a webhook.Handler does this
	check(err)
	for range 3 {
		check(shop.box.Webhook().Accept(ctx, paid)) // it is durable now
	}
	shop.settle(1)
	// Output: granted order-1
}

// One Run for an Inbox, from the start of the program to its end.
func ExampleInbox_Run() {
	shop := openExampleShop(grantAll)
	defer shop.close()
	shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})

	ctx, stop := context.WithCancel(context.Background())
	running := make(chan error, 1)
	go func() { running <- shop.box.Run(ctx) }()
	fmt.Println(shop.await(inbox.StageDone).Payment.Identifier, "is done")
	fmt.Println("a second one:", errors.Is(shop.box.Run(ctx), inbox.ErrRunning))
	stop()
	fmt.Println("ended:", <-running)
	// Output:
	// order-1 is done
	// a second one: true
	// ended: <nil>
}

// The report of the last reconciliation, for a status page.
func ExampleInbox_LastReport() {
	shop := openExampleShop(grantAll)
	defer shop.close()
	ctx := context.Background()
	_, err := shop.box.LastReport(ctx)
	fmt.Println("before the first:", errors.Is(err, inbox.ErrNoReport))
	shop.pay("order-1", mockserver.Deposit{Payer: "Kim"})
	_, err = shop.box.Reconcile(ctx) // Run does it
	check(err)
	report, err := shop.box.LastReport(ctx)
	check(err)
	fmt.Println("asked", report.Asked, "recovered", report.Recovered, "failed", report.Failed)
	// Output:
	// before the first: true
	// asked 1 recovered 1 failed 0
}

// Close comes after Run, and before the database is closed.
func ExampleInbox_Close() {
	shop := openExampleShop(grantAll)
	defer shop.close() // which calls it again: that changes nothing
	fmt.Println("closed:", shop.box.Close())
	err := shop.box.Webhook().Accept(context.Background(), payments.Payment{Status: payments.StatusComplete})
	fmt.Println("it takes nothing more:", errors.Is(err, inbox.ErrClosed))
	// Output:
	// closed: <nil>
	// it takes nothing more: true
}

// What is wrong with a Config is said at once, by the name of the field.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "shop")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(filepath.Join(dir, "payments.db"), nil)
	check(err)
	client, err := payments.New(payments.Config{BaseURL: "https://pay.example.com/api", Token: "test_token"})
	check(err)
	ctx := context.Background()

	_, err = inbox.Open(ctx, inbox.Config{SQLite: db, Client: client})
	fmt.Println(err)
	box, err := inbox.Open(ctx, inbox.Config{SQLite: db, Client: client, Handler: grantAll})
	check(err)
	status, err := box.Status(ctx)
	check(err)
	fmt.Println("payments:", len(status.Count))
	check(errors.Join(box.Close(), db.Close()))
	// Output:
	// inbox: Config.Handler: is required
	// payments: 0
}
