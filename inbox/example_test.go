package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// An order is created and paid, and its payment is granted in the transaction that
// marks it done, however often it arrives.
func Example() {
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

	db, err := sqlite.Open(path, nil)
	check(err)
	_, err = db.Writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS granted (identifier TEXT NOT NULL)`)
	check(err)
	box, err := inbox.Open(ctx, inbox.Config{
		SQLite: db, Client: client,
		Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO granted (identifier) VALUES (?)`, p.Identifier)
			return err
		},
	})
	check(err)
	running := make(chan error, 1)
	go func() { running <- box.Run(ctx) }() // runs the handler, until ctx ends

	created, err := box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	paid, err := client.Confirm(ctx, created.PayToken) // a webhook.Handler does this
	check(err)
	for range 3 {
		check(box.Webhook().Accept(ctx, paid))
	}
	exampleShop{box: box}.await(inbox.StageDone) // others see a grant once it is committed
	var rows int
	var first string
	check(db.Reader.QueryRowContext(ctx, `SELECT count(*), min(identifier) FROM granted`).Scan(&rows, &first))
	fmt.Println("granted", first, "rows:", rows)

	stop()
	check(errors.Join(<-running, box.Close(), db.Close()))
	// Output:
	// granted order-1 rows: 1
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
