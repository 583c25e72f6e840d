package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// exampleShop is what the examples share: the service, a client, a ledger.
type exampleShop struct {
	mock   *mockserver.Server
	client *payments.Client
	db     *inbox.SQLite
	box    *inbox.Inbox
	close  func()
}

func openExampleShop(handler inbox.Handler) exampleShop {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	client, err := payments.New(payments.Config{
		BaseURL: mock.URL(), CheckoutURL: "https://pay.example.com/checkout", Token: mock.Token(), Transport: mock.Transport(),
	})
	check(err)
	dir, err := os.MkdirTemp("", "shop")
	check(err)
	db, err := sqlite.Open(filepath.Join(dir, "payments.db"), nil)
	check(err)
	box, err := inbox.Open(context.Background(), inbox.Config{
		SQLite: db, Client: client, Handler: handler, Logger: slog.New(slog.DiscardHandler),
	})
	check(err)
	return exampleShop{mock, client, db, box, func() {
		check(errors.Join(box.Close(), db.Close(), mock.Close(), os.RemoveAll(dir)))
	}}
}

// runUntil runs the inbox until a payment is in the stage.
func (s exampleShop) runUntil(stage inbox.Stage) inbox.Entry {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	running := make(chan error, 1)
	go func() { running <- s.box.Run(ctx) }()
	e := s.await(stage)
	stop()
	check(<-running)
	return e
}

// await waits until a payment is in the stage.
func (s exampleShop) await(stage inbox.Stage) (e inbox.Entry) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	for e.Key == "" {
		<-time.After(time.Millisecond)
		for entry, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{stage}}) {
			check(err)
			e = entry
		}
	}
	return e
}

// Somebody pays less than was asked for. The payment waits for a person, with the reason,
// and is handed over only after their approval.
func ExampleInbox_Approve() {
	shop := openExampleShop(func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
		fmt.Println("granted", p.Identifier, "for", p.PaidAmount)
		return nil
	})
	defer shop.close()
	ctx := context.Background()
	created, err := shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim", Amount: 9000})
	check(err)

	waiting := shop.runUntil(inbox.StageReview) // which reconciles at its start
	fmt.Println(waiting.Payment.Identifier, waiting.Reason, waiting.Payment.PaidAmount)
	check(shop.box.Approve(ctx, waiting.Key, inbox.Decision{Actor: "park", Reason: "a regular; let it pass"}))
	shop.runUntil(inbox.StageDone)
	audit, err := shop.box.Audit(ctx, waiting.Key)
	check(err)
	fmt.Println(audit[0].Action, "by", audit[0].Decision.Actor)
	// Output:
	// order-1 underpaid 9000
	// granted order-1 for 9000
	// approve by park
}

// A handler that cannot succeed gives the payment up at once; a person fixes the cause and
// has it run again.
func ExampleCancel() {
	stock := 0
	shop := openExampleShop(func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
		if stock == 0 {
			return inbox.Cancel(errors.New("sold out"))
		}
		fmt.Println("granted", p.Identifier)
		return nil
	})
	defer shop.close()
	ctx := context.Background()
	created, err := shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)

	dead := shop.runUntil(inbox.StageDead)
	fmt.Println(dead.Reason)
	stock = 1
	check(shop.box.Retry(ctx, dead.Key, inbox.Decision{Actor: "park", Reason: "new stock"}))
	shop.runUntil(inbox.StageDone)
	// Output:
	// sold out
	// granted order-1
}

// A handler that cannot do it now says when to try again. That does not count as a
// failure.
func ExampleSnooze() {
	open := false
	shop := openExampleShop(func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
		if !open {
			open = true
			return inbox.Snooze(time.Millisecond) // until the game is up again
		}
		fmt.Println("granted", p.Identifier)
		return nil
	})
	defer shop.close()
	created, err := shop.box.Create(context.Background(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	fmt.Println("tries:", shop.runUntil(inbox.StageDone).Tries)
	// Output:
	// granted order-1
	// tries: 1
}

// The webhook and the poll of a payment were both lost. Reconciliation asks the service
// about every payment that is outstanding.
func ExampleInbox_Reconcile() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return nil })
	defer shop.close()
	ctx := context.Background()
	for i := range 3 {
		created, err := shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: fmt.Sprint("order-", i), Amount: payments.NewAmount(10000)})
		check(err)
		if i == 0 {
			_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
			check(err)
		}
	}
	report, err := shop.box.Reconcile(ctx)
	check(err)
	fmt.Println("recovered", report.Recovered, "still unpaid", report.StillUnpaid, "possible losses", len(report.PossibleLosses))
	// Output:
	// recovered 1 still unpaid 2 possible losses 0
}

// A payment that another program of yours has created is registered by its payToken.
func ExampleInbox_Expect() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return nil })
	defer shop.close()
	payToken := uuid.MustParse("8c1b7a52-4f0e-4d0b-9a58-2f6d2f9f3c11")
	err := shop.box.Expect(context.Background(), payToken, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	state, err := shop.box.Webhook().State(context.Background(), payToken)
	check(err)
	fmt.Println("state:", state)
	// Output:
	// state: expected
}

// For those who run their own migrations: the statements for an empty database.
func ExampleMigrationSQL() {
	statements, err := inbox.MigrationSQL(inbox.DialectPostgreSQL, "shop_")
	check(err)
	for line := range strings.Lines(statements) {
		if table, found := strings.CutPrefix(line, "CREATE TABLE "); found {
			fmt.Println(strings.Fields(table)[0])
		}
	}
	// Output:
	// shop_payments
	// shop_orders
	// shop_receipts
	// shop_audit
	// shop_polls
	// shop_meta
}
