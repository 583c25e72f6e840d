package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// What a status page shows, and what there is to see of one payment.
func ExampleInbox_Status() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return nil })
	defer shop.close()
	ctx := context.Background()
	var last payments.Created
	for i := range 2 {
		var err error
		last, err = shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: fmt.Sprint("order-", i), Amount: payments.NewAmount(10000)})
		check(err)
	}
	_, err := shop.mock.Deposit(last.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	shop.runUntil(inbox.StageDone)

	status, err := shop.box.Status(ctx)
	check(err)
	fmt.Println("expected", status.Count[inbox.StageExpected], "done", status.Count[inbox.StageDone], "oldest ready", status.OldestReady)
	entry, err := shop.box.Get(ctx, last.PayToken.String())
	check(err)
	fmt.Println(entry.Payment.Identifier, entry.Stage, "reconciled:", entry.Sources.Has(inbox.ChannelReconcile), "polled:", entry.Sources.Has(inbox.ChannelPoll))
	receipts, err := shop.box.Receipts(ctx, entry.Key)
	check(err)
	fmt.Println("receipts:", len(receipts), receipts[0].Outcome)
	_, err = shop.box.Get(ctx, uuid.NewString())
	fmt.Println("a stranger's id:", errors.Is(err, inbox.ErrNotFound))
	// Output:
	// expected 1 done 1 oldest ready 0s
	// order-1 done reconciled: true polled: false
	// receipts: 1 accepted
	// a stranger's id: true
}

// A voucher that failed is a payment of 0. Nothing is owed and nothing is given.
func ExampleInbox_Reject() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return errors.New("never called") })
	defer shop.close()
	ctx := context.Background()
	created, err := shop.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = shop.mock.Deposit(created.PayToken.String(), mockserver.Deposit{Failed: true})
	check(err)

	waiting := shop.runUntil(inbox.StageReview)
	check(shop.box.Reject(ctx, waiting.Key, inbox.Decision{Actor: "park", Reason: "the voucher was used up"}))
	rejected, err := shop.box.Get(ctx, waiting.Key)
	check(err)
	fmt.Println(waiting.Reason, rejected.Stage)
	// Output: no_money dead
}

// The answer to a poll is lost on its way. Whether it held a payment nobody knows, so it
// stays on the reports until a person has compared the books.
func ExampleInbox_SettleLoss() {
	shop := openExampleShop(func(context.Context, *sql.Tx, payments.Payment) error { return nil })
	defer shop.close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	check(shop.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 1}))
	poll, err := poller.New(poller.Config{Client: shop.client, Ledger: shop.box.Poller(), Logger: slog.New(slog.DiscardHandler), OnEvent: func(e poller.Event) {
		if e.Kind == poller.KindAmbiguous {
			stop() // a server would go on
		}
	}})
	check(err)
	check(poll.Run(ctx))

	ctx = context.Background()
	report, err := shop.box.Reconcile(ctx)
	check(err)
	fmt.Println("possible losses:", len(report.PossibleLosses))
	for _, loss := range report.PossibleLosses {
		check(shop.box.SettleLoss(ctx, loss.ID, inbox.Decision{Actor: "park", Reason: "the dashboard shows nothing at that time"}))
	}
	_, err = shop.box.Reconcile(ctx)
	check(err)
	report, err = shop.box.LastReport(ctx)
	check(err)
	fmt.Println("possible losses:", len(report.PossibleLosses))
	// Output:
	// possible losses: 1
	// possible losses: 0
}

// A deployment step brings the schema up to date, and the program leaves it alone.
func ExampleMigrate() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shop")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(filepath.Join(dir, "payments.db"), nil)
	check(err)
	defer func() { _ = db.Close() }()
	client, err := payments.New(payments.Config{BaseURL: "https://pay.example.com/api", Token: "test_token"})
	check(err)
	cfg := inbox.Config{
		SQLite: db, TablePrefix: "shop_", SkipMigration: true, Client: client,
		Handler: func(context.Context, *sql.Tx, payments.Payment) error { return nil },
	}

	_, err = inbox.Open(ctx, cfg)
	fmt.Println("before:", errors.Is(err, inbox.ErrSchema))
	check(inbox.Migrate(ctx, db.Writer, inbox.DialectSQLite, "shop_"))
	box, err := inbox.Open(ctx, cfg)
	check(err)
	fmt.Println("after:", box.Close())
	// Output:
	// before: true
	// after: <nil>
}
