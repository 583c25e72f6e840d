package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
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
	db, err := sqlite.Open(filepath.Join(dir, "payments.db"), nil)
	check(err)
	defer func() { _ = db.Close() }()
	_, err = db.Writer.ExecContext(ctx, `CREATE TABLE granted (identifier TEXT NOT NULL)`)
	check(err)

	granted := make(chan string, 8)
	box, err := inbox.Open(ctx, inbox.Config{
		SQLite: db, Client: client,
		Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO granted (identifier) VALUES (?)`, p.Identifier)
			granted <- p.Identifier
			return err
		},
	})
	check(err)
	defer func() { _ = box.Close() }()
	running := make(chan error, 1)
	go func() { running <- box.Run(ctx) }()

	created, err := box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	paid, err := client.Confirm(ctx, created.PayToken) // a webhook.Handler does this
	check(err)
	for range 3 {
		check(box.Accept(ctx, paid))
	}
	fmt.Println("granted", <-granted)

	stop()
	check(<-running)
	var n int
	check(db.Reader.QueryRowContext(context.Background(), `SELECT count(*) FROM granted`).Scan(&n))
	fmt.Println("rows:", n)
	// Output:
	// granted order-1
	// rows: 1
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
