package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// Both channels end in the inbox, which runs the handler.
func Example_bothChannels() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	mock, err := mockserver.New(mockserver.Config{}) // the service
	check(err)
	check(mock.Start())
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	check(err)
	defer client.CloseIdleConnections()
	dir, err := os.MkdirTemp("", "shop")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "payments.db")

	grant := func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
		result, err := tx.ExecContext(ctx, `UPDATE orders SET paid = true WHERE id = $1 AND NOT paid`, p.Identifier)
		if err != nil {
			return err
		}
		if n, _ := result.RowsAffected(); n != 1 {
			return inbox.Cancel(errors.New("no unpaid order")) // a person decides
		}
		return nil
	}
	db, err := sqlite.Open(path, nil) // or a PostgreSQL pool in Config.DB
	check(err)
	box, err := inbox.Open(ctx, inbox.Config{SQLite: db, Client: client, Handler: grant})
	check(err)
	hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook()}) // an http.Handler
	check(err)
	poll, err := poller.New(poller.Config{Client: client, Ledger: box.Poller()})
	check(err)

	_, err = db.Writer.ExecContext(ctx, `CREATE TABLE orders (id TEXT PRIMARY KEY, paid BOOLEAN NOT NULL DEFAULT false)`)
	check(err)
	_, err = db.Writer.ExecContext(ctx, `INSERT INTO orders (id) VALUES ('order-1')`)
	check(err)
	req := payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)}
	created, err := box.Create(ctx, req) // creates the payment and registers what is expected
	check(err)
	server := httptest.NewServer(hook) // yours is an http.Server; see package webhook
	check(mock.SetWebhook(mock.Token(), server.URL))
	polled := make(chan error, 1)
	go func() { polled <- poll.Run(ctx) }()
	twice, err := box.Create(ctx, req) // they open the checkout a second time
	check(err)
	go customer(stop, mock, box, created, twice)
	err = box.Run(ctx) // hands over, confirms, reconciles, until ctx ends
	server.Close()
	fmt.Println("ended:", errors.Join(err, <-polled, hook.Wait(context.Background())))

	var paid bool
	check(db.Reader.QueryRowContext(context.Background(), `SELECT paid FROM orders WHERE id = 'order-1'`).Scan(&paid))
	fmt.Println("paid:", paid)
	fmt.Println("paid again:", exampleShop{box: box}.await(inbox.StageDead).Reason)
	check(errors.Join(box.Close(), db.Close()))
	// Output:
	// ended: <nil>
	// paid: true
	// paid again: no unpaid order
}

// customer pays one order twice, and stops the shop when both payments have their end.
func customer(stop func(), mock *mockserver.Server, box *inbox.Inbox, checkouts ...payments.Created) {
	defer stop()
	for _, created := range checkouts {
		_, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
		check(err)
	}
	exampleShop{box: box}.await(inbox.StageDone)
	exampleShop{box: box}.await(inbox.StageDead)
}

// In production: the ledger is a file of the shop, or a database that it has. It is not run
// here, for its path is a server's.
func ExampleOpen_production() {
	open := func(ctx context.Context, client *payments.Client, mux *http.ServeMux, req payments.CreateRequest) error {
		grant := func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			result, err := tx.ExecContext(ctx, `UPDATE orders SET paid = true WHERE id = $1 AND NOT paid`, p.Identifier)
			if err != nil {
				return err
			}
			if n, _ := result.RowsAffected(); n != 1 {
				return inbox.Cancel(errors.New("no unpaid order")) // a person decides
			}
			return nil
		}
		db, err := sqlite.Open("/var/lib/shop/payments.db", nil) // or a PostgreSQL pool in Config.DB
		check(err)
		box, err := inbox.Open(ctx, inbox.Config{SQLite: db, Client: client, Handler: grant})
		check(err)
		hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook()})
		check(err)
		poll, err := poller.New(poller.Config{Client: client, Ledger: box.Poller()})
		check(err)
		mux.Handle("/hooks/deposit/", hook)
		go func() { check(poll.Run(ctx)) }()
		created, err := box.Create(ctx, req) // creates the payment and registers the order
		check(err)
		fmt.Println("the customer pays", created.PayToken)
		err = box.Run(ctx) // until ctx ends
		return err
	}
	_ = open
}
