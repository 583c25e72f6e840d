package grant_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// fields is a game in the same process, in which everybody is online.
type fields struct{ gave chan grant.Delivery }

func (fields) Refuses() bool { return false }

func (f fields) Give(_ context.Context, d grant.Delivery) (grant.Answer, error) {
	f.gave <- d
	return grant.Given, nil
}

// A player buys a sword in the store, and has it in the game.
func Example() {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	defer func() { _ = mock.Close() }()
	product, err := mock.SaveProduct(mockserver.Product{Name: "Sword", Price: 1000})
	check(err)
	_, err = mock.SaveStoreUser(mockserver.StoreUser{ID: account, Name: "Steve"})
	check(err)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)
	dir, err := os.MkdirTemp("", "game")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	check(os.Chdir(dir))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	catalogue, err := grant.NewCatalogue(grant.Product{ID: product.ID, Price: payments.NewAmount(1000), Items: []string{"sword"}})
	check(err)
	game, began, boxRan := fields{make(chan grant.Delivery)}, time.Now().Add(-time.Minute), make(chan error, 1)

	ledger, err := sqlite.Open("payments.db", nil)
	check(err)
	book, err := grant.Open(ctx, ledger, catalogue)
	check(err)
	box, err := inbox.Open(ctx, inbox.Config{
		SQLite: ledger, Client: client, Handler: book.Handle, Catalogue: catalogue.Inbox(),
		NotBefore: began, // a new ledger does not know what was given before
	})
	check(err)
	go func() { boxRan <- box.Run(ctx) }()
	go func() {
		defer stop() // a server would go on
		bought, err := mock.Buy(product.ID, account)
		check(err)
		_, err = mock.Deposit(bought.ID, mockserver.Deposit{Payer: "Kim"})
		check(err)
		paid, err := client.Next(ctx)
		check(err)
		check(box.Webhook().Accept(ctx, paid)) // as the webhook does
		d := <-game.gave
		fmt.Println(d.Account, "has", d.Item)
	}()
	err = book.Run(ctx, game) // gives units to the game until ctx ends
	fmt.Println("ended:", errors.Join(err, <-boxRan, box.Close(), ledger.Close()))
	// Output:
	// acc-1001 has sword
	// ended: <nil>
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
