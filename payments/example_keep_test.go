package payments_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// api serves the mock under https://pay.example.com/api, without a network.
func api(mock *mockserver.Server) http.RoundTripper {
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api")
		return mock.Transport().RoundTrip(r)
	})
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Two addresses and a token, which comes from outside. Your own configuration has no
// Transport.
func ExampleNew() {
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	_ = os.Setenv("DEPOSITPAY_TOKEN", mock.Token())
	defer func() { _ = os.Unsetenv("DEPOSITPAY_TOKEN") }()
	ctx := context.Background()

	client, err := payments.New(payments.Config{
		BaseURL:     "https://pay.example.com/api",
		CheckoutURL: "https://pay.example.com/checkout",
		Token:       os.Getenv("DEPOSITPAY_TOKEN"),
		Transport:   api(mock),
	})
	if err != nil {
		log.Fatal(err)
	}
	created, err := client.Create(ctx, payments.CreateRequest{
		Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000),
	})
	if err != nil {
		log.Fatal(err)
	}
	link, err := client.CheckoutURL(created.PayToken)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Replace(link, created.PayToken.String(), "<payToken>", 1))
	// Output: https://pay.example.com/checkout/<payToken>
}

// A poll's answer is all there is of the payment that it has completed. The journal is
// given it before it is read, so a process that dies now can read it again later.
func ExampleWithJournal() {
	mock, client := newMock()
	defer stop(mock, client)
	created, err := client.Create(context.Background(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{}); err != nil {
		log.Fatal(err)
	}

	var kept []byte
	ctx := payments.WithJournal(context.Background(), func(_ context.Context, raw []byte) error {
		kept = bytes.Clone(raw) // yours writes it to a disk and syncs
		return nil
	})
	if _, err := client.Next(ctx); err != nil {
		log.Fatal(err)
	}
	again, err := client.Decode(kept) // at the next start
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Identifier, again.PaidAmount, again.ID == created.PayToken)
	// Output: order-1 10000 true
}

// The receiver was down while the webhook came. Now it is up, and need not wait for the
// next attempt.
func ExampleClient_ResendWebhook() {
	var up atomic.Bool
	mock, err := mockserver.New(mockserver.Config{
		Clock:        mockserver.NewStoppedClock(time.Time{}),
		Applications: []mockserver.Application{{WebhookURL: "http://127.0.0.1:9000/hook"}},
		WebhookTransport: transportFunc(func(*http.Request) (*http.Response, error) {
			if !up.Load() {
				return nil, fmt.Errorf("connection refused")
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	created, err := client.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{}); err != nil {
		log.Fatal(err)
	}
	status := func() {
		mock.Advance(0) // lets the attempt end
		delivery, err := client.WebhookStatus(ctx, created.PayToken)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(delivery.Status, delivery.Attempts)
	}

	status()
	up.Store(true)
	if _, err := client.ResendWebhook(ctx, created.PayToken); err != nil {
		log.Fatal(err)
	}
	status()
	// Output:
	// pending 1
	// delivered 1
}

// What arrived of a lost answer is for a person only if it may hold a part of a record.
func ExampleError_MayHoldRecord() {
	for _, raw := range []string{
		`{"error":"NO_PROCESSED_PAYMENT","error_msg":"no pay`,
		"<html><head><title>502 Bad Gateway</title></head>",
		`{"id":"9d3c2b1a-7e4f`,
	} {
		err := &payments.Error{Op: "Next", Raw: []byte(raw)}
		fmt.Println(err.MayHoldRecord())
	}
	// Output:
	// false
	// false
	// true
}
