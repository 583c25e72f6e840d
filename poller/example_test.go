package poller_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// A customer pays, and the poller hands the payment over.
func Example() {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	created, err := client.Create(ctx, payments.CreateRequest{
		Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000),
	})
	check(err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
	check(err)

	p, err := poller.New(poller.Config{
		Client: client,
		Sink: poller.SinkFunc(func(_ context.Context, p payments.Payment) error {
			fmt.Println(p.Identifier, "paid", p.PaidAmount)
			stop() // a server would go on
			return nil
		}),
	})
	check(err)
	err = p.Run(ctx)
	if unhanded, ok := errors.AsType[*poller.UnhandedError](err); ok {
		fmt.Println("save these:", unhanded.Payments)
	}
	fmt.Println("stopped:", err)
	// Output:
	// order-1 paid 10000
	// stopped: <nil>
}

// The figures for a status page. The webhook handler may have the same sink.
func ExamplePoller_Stats() {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	created, err := client.Create(ctx, payments.CreateRequest{Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
	check(err)
	box, err := webhook.NewMemory(func(context.Context, payments.Payment) error {
		stop() // a server would go on
		return nil
	}, nil)
	check(err)

	p, err := poller.New(poller.Config{Client: client, Sink: box})
	check(err)
	err = p.Run(ctx) // returns soon after ctx ends
	stats := p.Stats()
	fmt.Println("polls", stats.Polls, "received", stats.Received, "handed over", stats.HandedOver, "pending", stats.Pending, "error", err)
	// Output: polls 1 received 1 handed over 1 pending 0 error <nil>
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
