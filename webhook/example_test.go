package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// A webhook comes before the payment, is sent again after it, and once more. The goods
// are granted once.
func Example() {
	mock, err := mockserver.New(mockserver.Config{})
	check(err)
	defer func() { _ = mock.Close() }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	check(err)

	box, err := webhook.NewMemory(func(_ context.Context, p payments.Payment) error {
		fmt.Println("granted:", p.Identifier, "paid", p.PaidAmount)
		return nil
	}, nil)
	check(err)
	hook, err := webhook.New(webhook.Config{Client: client, Sink: box, RefusedInterval: -1})
	check(err)
	mux := http.NewServeMux()
	mux.Handle("/hooks/deposit", hook)

	created, err := client.Create(context.Background(), payments.CreateRequest{
		Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000),
	})
	check(err)
	deliver := func() {
		body := strings.NewReader(`{"payment_id":"` + created.PayToken.String() + `"}`)
		r := httptest.NewRequest(http.MethodPost, "/hooks/deposit", body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}

	deliver()
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
	check(err)
	deliver()
	deliver()
	// Output:
	// 429 {"error":"not now"}
	// granted: order-1 paid 10000
	// 200 {"result":"ok"}
	// 200 {"result":"ok"}
}
