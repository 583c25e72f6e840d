package grant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// openBook is a book with one product. handOver is what the inbox does with a payment.
func openBook() (book *grant.Book, handOver func(p payments.Payment), closeAll func()) {
	leave := enterTempDir()
	ledger, err := sqlite.Open("payments.db", nil)
	check(err)
	catalogue, err := grant.ReadCatalogue(strings.NewReader(
		`[{"id": "p-pack", "name": "Potions", "price": 5000, "lines": [{"item": "potion", "count": 2, "slots": 1}]}]`))
	check(err)
	ctx := context.Background()
	book, err = grant.Open(ctx, grant.Config{SQLite: ledger, Catalogue: catalogue, Every: time.Millisecond, LookEvery: -1})
	check(err)
	handOver = func(p payments.Payment) {
		tx, err := ledger.Writer.BeginTx(ctx, nil)
		check(err)
		check(book.Handle(ctx, tx, p))
		check(tx.Commit())
	}
	return book, handOver, func() {
		check(ledger.Close())
		leave()
	}
}

// potions is a payment of the game store for what openBook sells.
func potions() payments.Payment {
	return payments.Payment{
		ID: uuid.MustParse("9bb5bb65-cd48-4b04-89d5-b1848ab1a914"), Identifier: account, Status: payments.StatusComplete,
		PaidAmount: payments.NewAmount(5000), Metadata: payments.Metadata{GameProduct: "p-pack"},
	}
}

// awaitState waits until n units of the book are in a state.
func awaitState(book *grant.Book, state grant.State, n int) {
	for {
		counts, err := book.Counts(context.Background())
		check(err)
		if counts[state] == n {
			return
		}
		<-time.After(time.Millisecond)
	}
}

// The player is away, so what was bought waits in the claim box until the game says that
// the player has joined.
func ExampleBook_Joined() {
	book, handOver, closeAll := openBook()
	defer closeAll()
	ctx, stop := context.WithCancel(context.Background())
	game := &fields{given: map[string]bool{}, told: make(chan string, 8)}
	ran := make(chan error, 1)
	go func() { ran <- book.Run(ctx, game) }()
	paid := potions()
	handOver(paid)
	book.Wake() // or wait for Config.Every
	awaitState(book, grant.Claimable, 2)
	waiting, err := book.Waiting(ctx, 0)
	check(err)
	fmt.Println(len(waiting), waiting[0].State, waiting[0].Reason)

	game.join()
	n, err := book.Joined(ctx, account)
	check(err)
	fmt.Println("given now:", n)
	awaitState(book, grant.Granted, 2)
	n, err = book.Claim(ctx, account) // the player types /claim as well
	check(err)
	book.LookNow() // and the operator looks, too
	units, err := book.OfPayment(ctx, paid.ID.String())
	check(err)
	fmt.Println("left:", n, "units:", len(units), units[0].State, units[1].State)
	stop()
	check(<-ran)
	// Output:
	// 2 claimable the player is offline
	// given now: 2
	// left: 0 units: 2 granted granted
}

// A support request: what did this player get? What a person has given by hand is settled,
// and a unit that the player has is not given a second time.
func ExampleBook_Settle() {
	book, handOver, closeAll := openBook()
	defer closeAll()
	ctx := context.Background()
	handOver(potions())
	units, err := book.History(ctx, account)
	check(err)
	key := units[0].Key
	check(book.Settle(ctx, key, inbox.Decision{Actor: "Mina", Reason: "given by hand at noon"}))
	unit, err := book.Get(ctx, key)
	check(err)
	fmt.Println(unit.Item, unit.State)

	err = book.Resend(ctx, key, inbox.Decision{Actor: "Mina", Reason: "the player asked"})
	_, granted := errors.AsType[*grant.AlreadyGrantedError](err)
	fmt.Println("has it already:", granted)
	_, err = book.Get(ctx, "no such key")
	fmt.Println("unknown:", errors.Is(err, grant.ErrNoGrant))
	// Output:
	// potion granted
	// has it already: true
	// unknown: true
}

// A payment is among the inbox's dead, and the operator has paid it back. Anyone who runs it
// again by mistake gives nothing.
func ExampleBook_Reject() {
	book, handOver, closeAll := openBook()
	defer closeAll()
	ctx := context.Background()
	paid, kim := potions(), inbox.Decision{Actor: "Kim", Reason: "paid back"}
	check(book.Reject(ctx, paid.ID.String(), kim))
	err := book.Reject(ctx, paid.ID.String(), kim)
	fmt.Println("rejected already:", errors.Is(err, grant.ErrRejected))

	paid.ID = uuid.MustParse("4f0a2b1e-6c1d-4b8e-9a57-3d0c5e7f1a02")
	handOver(paid)
	fmt.Println(book.Reject(ctx, paid.ID.String(), kim))
	// Output:
	// rejected already: true
	// grant: 4f0a2b1e-6c1d-4b8e-9a57-3d0c5e7f1a02: there are units of it already: see history
}

// The operator's console, and the watch for a second poller on the same token.
func ExampleDesk_Do() {
	mock, client, product := stage()
	defer func() { _ = mock.Close() }()
	leave := enterTempDir()
	defer leave()
	ctx := context.Background()
	ledger, err := sqlite.Open("payments.db", nil)
	check(err)
	catalogue, err := grant.NewCatalogue(grant.Product{ID: product.ID, Name: product.Name, Price: payments.NewAmount(product.Price), Lines: []grant.Line{{Item: "sword"}}})
	check(err)
	book, err := grant.Open(ctx, grant.Config{SQLite: ledger, Catalogue: catalogue})
	check(err)
	watch := &grant.Watch{Client: client}
	box, err := inbox.Open(ctx, inbox.Config{SQLite: ledger, Client: watch, Handler: book.Handle, Catalogue: catalogue.Inbox()})
	check(err)
	poll, err := poller.New(poller.Config{Client: client, Ledger: box.Poller()})
	check(err)
	desk := &grant.Desk{Book: book, Box: box, Poller: poll, Watch: watch, Secrets: []string{mock.Token()}}

	check(desk.Do(ctx, os.Stdout, "Mina", "pending"))
	check(desk.Do(ctx, os.Stdout, "Mina", "history "+account))
	paid := pay(ctx, mock, client, box, product)
	again, err := watch.Confirm(ctx, paid.ID) // as the webhook's client it sees who completed what
	check(err)
	foreign, err := watch.Check(ctx, box)
	check(err)
	fmt.Println("the same:", again.ID == paid.ID, "completed by another poller:", foreign)
	check(errors.Join(box.Close(), ledger.Close()))
	// Output:
	// nothing is pending
	// no units for acc-1001
	// the same: true completed by another poller: 0
}
