package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// A whole server, with the timeouts that suit webhooks, from its start to its end: the
// port is closed first, then what is still in progress is awaited.
func ExampleHandler_Wait() {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)
	ctx := context.Background()
	granted := make(chan string, 1)
	grant := func(_ context.Context, p payments.Payment) error {
		granted <- p.Identifier
		return nil
	}

	mux := http.NewServeMux()
	box, err := webhook.NewMemory(grant, nil) // for a trial; see Memory
	check(err)
	hook, err := webhook.New(webhook.Config{Client: client, Sink: box})
	check(err)
	mux.Handle("/hooks/deposit/", hook)
	server := &http.Server{
		Addr:              ":8080",
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       8 * time.Second,
		WriteTimeout:      15 * time.Second, // more than Config.Budget
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // in place of server.Addr
	check(err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	check(mock.SetWebhook(mock.Token(), "http://"+listener.Addr().String()+"/hooks/deposit/"))
	created, err := client.Create(ctx, payments.CreateRequest{Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	check(err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	check(err)
	fmt.Println("granted:", <-granted)

	check(server.Shutdown(ctx))
	check(hook.Wait(ctx))
	fmt.Println("stopped:", errors.Is(<-served, http.ErrServerClosed))
	// Output:
	// granted: order-1
	// stopped: true
}

// One Memory is the sink of both channels, so a payment that comes by both counts once.
func ExampleMemory() {
	box, err := webhook.NewMemory(func(_ context.Context, p payments.Payment) error {
		fmt.Println("granted:", p.Identifier)
		return nil
	}, nil)
	check(err)
	ctx := context.Background()
	paid := payments.Payment{ID: uuid.MustParse("8c1b7a52-4f0e-4d0b-9a58-2f6d2f9f3c11"), Identifier: "order-1", Status: payments.StatusComplete, PaidAmount: payments.NewAmount(10000)}
	known, err := box.Handled(ctx, paid.ID)
	check(err)
	fmt.Println("known:", known)
	for range 2 { // by the poll, and by the webhook
		check(box.Accept(ctx, paid))
	}
	known, err = box.Handled(ctx, paid.ID)
	check(err)
	fmt.Println("known:", known)
	// Output:
	// known: false
	// granted: order-1
	// known: true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
