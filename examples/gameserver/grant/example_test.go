package grant_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// fields is a game in the same process: anyone who is online gets everything, and the game
// keeps the keys.
type fields struct {
	mu     sync.Mutex
	online bool
	given  map[string]bool
	told   chan string
}

func (*fields) Refuses() bool { return true }

func (f *fields) Player(context.Context, string) (grant.Player, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return grant.Player{Online: f.online, Free: -1}, nil
}

func (f *fields) Give(_ context.Context, d grant.Delivery) (grant.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.given[d.Key] {
		return grant.AlreadyGranted, nil
	}
	f.given[d.Key] = true
	f.told <- d.Account + " has " + d.Item
	return grant.Given, nil
}

func (f *fields) join() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.online = true
}

// stage is what the examples share: the service with a product and a user, a client.
func stage() (mock *mockserver.Server, client *payments.Client, product mockserver.Product) {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	product, err = mock.SaveProduct(mockserver.Product{Name: "Sword", Price: 1000})
	check(err)
	_, err = mock.SaveStoreUser(mockserver.StoreUser{ID: account, Name: "Steve"})
	check(err)
	client, err = payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)
	return mock, client, product
}

// A player buys a sword in the store, and has it in the game.
func Example() {
	mock, client, product := stage()
	defer func() { _ = mock.Close() }()
	leave := enterTempDir()
	defer leave()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	game := &fields{online: true, given: map[string]bool{}, told: make(chan string, 8)}
	catalogue, err := grant.NewCatalogue(grant.Product{
		ID: product.ID, Name: product.Name, Price: payments.NewAmount(product.Price), Lines: []grant.Line{{Item: "sword", Slots: 1}},
	})
	check(err)

	ledger, err := sqlite.Open("payments.db", nil)
	check(err)
	book, err := grant.Open(ctx, grant.Config{SQLite: ledger, Catalogue: catalogue})
	check(err)
	box, err := inbox.Open(ctx, inbox.Config{
		SQLite: ledger, Client: client, Handler: book.Handle, Catalogue: catalogue.Inbox(),
		NotBefore: book.Born().Add(-time.Minute), // a new book does not know what was given before
	})
	check(err)
	boxRan := make(chan error, 1)
	go func() { boxRan <- box.Run(ctx) }()
	go func() {
		defer stop() // a server would go on
		pay(ctx, mock, client, box, product)
		fmt.Println(<-game.told)
	}()
	err = book.Run(ctx, game) // hands units to the game until ctx ends
	fmt.Println("ended:", errors.Join(err, <-boxRan, box.Close(), ledger.Close()))
	// Output:
	// acc-1001 has sword
	// ended: <nil>
}

// pay buys the product, and does what the webhook does.
func pay(ctx context.Context, mock *mockserver.Server, client *payments.Client, box *inbox.Inbox, product mockserver.Product) payments.Payment {
	bought, err := mock.Buy(product.ID, account)
	check(err)
	_, err = mock.Deposit(bought.ID, mockserver.Deposit{Payer: "Kim"})
	check(err)
	paid, err := client.Next(ctx)
	check(err)
	check(box.Webhook().Accept(ctx, paid))
	return paid
}

// enterTempDir makes an empty directory the working directory.
func enterTempDir() (leave func()) {
	old, err := os.Getwd()
	check(err)
	dir, err := os.MkdirTemp("", "game")
	check(err)
	check(os.Chdir(dir))
	return func() { check(errors.Join(os.Chdir(old), os.RemoveAll(dir))) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
