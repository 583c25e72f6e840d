package payments_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// newMock starts the mock of the service and a client for it. Your own code takes
// BaseURL, CheckoutURL and Token from its configuration.
func newMock() (*mockserver.Server, *payments.Client) {
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := mock.Start(); err != nil {
		log.Fatal(err)
	}
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), CheckoutURL: mock.CheckoutURL(), Token: mock.Token()})
	if err != nil {
		log.Fatal(err)
	}
	return mock, client
}

func stop(mock *mockserver.Server, client *payments.Client) {
	client.CloseIdleConnections()
	_ = mock.Close()
}

// A payment is created, deposited and confirmed, as after a webhook.
func Example() {
	mock, client := newMock()
	defer stop(mock, client)
	ctx := context.Background()

	created, err := client.Create(ctx, payments.CreateRequest{
		Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"}); err != nil {
		log.Fatal(err)
	}
	paid, err := client.Confirm(ctx, created.PayToken)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paid.Identifier, paid.Status, paid.Method, paid.PaidAmount)
	// Output: order-1 COMPLETE DEPOSIT 10000
}

// Next is called until no payment waits. What it returns is kept before the next call.
func ExampleClient_Next() {
	mock, client := newMock()
	defer stop(mock, client)
	ctx := context.Background()
	for i := range 2 {
		created, err := client.Create(ctx, payments.CreateRequest{
			Title: "Potion", Identifier: fmt.Sprintf("order-%d", i+1), Amount: payments.NewAmount(500),
		})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{}); err != nil {
			log.Fatal(err)
		}
	}

	keep := func(p payments.Payment) { fmt.Println(p.Identifier, p.PaidAmount) } // on a disk, for real money
	for {
		p, err := client.Next(ctx)
		switch {
		case err == nil:
			keep(p)
		case errors.Is(err, payments.ErrNoProcessedPayment):
			// no payment is waiting
			fmt.Println("no payment waits")
			return
		case errors.Is(err, payments.ErrAmbiguous):
			// a completed payment may be lost: confirm the ids you know
			log.Fatal(err)
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// order-1 500
	// order-2 500
	// no payment waits
}

// A refusal of the service is never final: the customer may pay later.
func ExampleClient_Confirm_notPaid() {
	mock, client := newMock()
	defer stop(mock, client)
	ctx := context.Background()
	created, err := client.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Confirm(ctx, created.PayToken)
	if e, ok := errors.AsType[*payments.Error](err); ok {
		fmt.Println(e.Op, e.Code, payments.SafeToRetry(err))
	}
	// Output: Confirm PAYMENT_NOT_PAID true
}

// The link goes to the customer.
func ExampleClient_CheckoutURL() {
	client, err := payments.New(payments.Config{
		BaseURL: "https://pay.example.com/api", CheckoutURL: "https://pay.example.com/checkout", Token: "test_token",
	})
	if err != nil {
		log.Fatal(err)
	}
	link, err := client.CheckoutURL(id1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link)
	// Output: https://pay.example.com/checkout/7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c01
}

// Nothing is sent if a rule of the interface is broken; the error names the field.
func ExampleCreateRequest_Validate() {
	req := payments.CreateRequest{
		Title: "Sword", Identifier: "order-1",
		Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(10000), Icon: "http://shop.example/sword.png"}},
	}
	fmt.Println(req.Validate())
	// Output: payments: Create: items[0].icon: must start with https:// and name a host
}

// Amounts are exact, and equal amounts are equal values.
func ExampleAmount() {
	asked := payments.NewAmount(10000)
	paid, err := payments.ParseAmount("10000.00")
	if err != nil {
		log.Fatal(err)
	}
	n, whole := paid.Int64()
	fmt.Println(paid, paid == asked, n, whole)
	half, err := payments.ParseAmount("0.5")
	if err != nil {
		log.Fatal(err)
	}
	_, whole = half.Int64()
	fmt.Println(half, half.Cmp(asked), half.Sign(), half.IsZero(), whole)
	_, bomb := payments.ParseAmount("1e1000000000")
	fmt.Println(errors.Is(bomb, payments.ErrAmountRange))
	// Output:
	// 10000 true 10000 true
	// 0.5 -1 1 false false
	// true
}
