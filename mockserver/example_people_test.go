package mockserver_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// Two merchants on one service: each has a token, a webhook and a dialect of its own, and
// customers of both pay into one account.
func ExampleServer_SaveApplication() {
	mock, err := mockserver.New(mockserver.Config{Account: mockserver.Account{Bank: "Bank of Examples"}})
	must(err)
	defer func() { _ = mock.Close() }()
	old, err := mockserver.ParseDialect("old")
	must(err)
	must(mock.SaveApplication(mockserver.Application{Name: "Gem shop", Token: "test_gems", Dialect: old}))
	must(mock.SetWebhook("test_gems", "http://127.0.0.1:9000/hook"))
	for _, a := range mock.Applications() {
		fmt.Printf("%s: %q %s\n", a.Name, a.WebhookURL, a.Dialect)
	}
	fmt.Println(mock.Account().Bank, mock.Account().Number)
	// Output:
	// Application 1: "" default
	// Gem shop: "http://127.0.0.1:9000/hook" envelope=old,empty=NO_PROGRESS_PAYMENTS
	// Bank of Examples 000-1234-5678
}

// The operator's shelf in the game store.
func ExampleServer_Products() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	for _, p := range []mockserver.Product{{Name: "Sword", Price: 3000}, {Name: "Shield", Price: 2000}} {
		_, err := mock.SaveProduct(p)
		must(err)
	}
	_, err = mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1001", Name: "Steve"})
	must(err)
	must(mock.DeleteProduct(mock.Products()[0].ID))
	for _, p := range mock.Products() {
		fmt.Println(p.Name, p.Price)
	}
	for _, u := range mock.StoreUsers() {
		fmt.Println(u.ID, u.Name)
	}
	// Output:
	// Shield 2000
	// acc-1001 Steve
}

// The customer says one name and pays under another one, so a person decides. What belongs
// to nobody is dismissed.
func ExampleServer_ResolveUnmatched() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	payToken := order(mock)
	waiting, err := mock.GivePayer(payToken, "홍길동", 0)
	must(err)
	fmt.Println("due:", waiting.AmountDue())
	for _, payer := range []string{"홍길동의 누나", "김철수"} {
		_, err := mock.SendNotification("com.kakaobank.channel", payer, 10000)
		must(err)
	}
	fmt.Println("unmatched:", len(mock.Unmatched()))

	deposits := mock.Unmatched()
	paid, err := mock.ResolveUnmatched(deposits[0].Notification.ID, payToken, 0)
	must(err)
	fmt.Println(paid.Status, paid.PaidAmount, "paid by", paid.Payer)
	must(mock.DismissUnmatched(deposits[1].Notification.ID))
	for _, n := range mock.Notifications() {
		fmt.Println(n.Result)
	}
	// Output:
	// due: 10000
	// unmatched: 2
	// PROGRESS 10000 paid by 홍길동의 누나
	// MATCHED
	// DISMISSED
}

// A receiver that was down gets its webhook by hand: the attempt that waits, at once, and a
// new run of attempts after that. The timeline tells a person what happened.
func ExampleServer_Timeline() {
	var up atomic.Bool
	mock, err := mockserver.New(mockserver.Config{
		Clock:        mockserver.NewStoppedClock(time.Time{}),
		Applications: []mockserver.Application{{WebhookURL: "http://127.0.0.1:9000/hook"}},
		WebhookTransport: roundTripFunc(func(*http.Request) (*http.Response, error) {
			if !up.Load() {
				return nil, fmt.Errorf("connection refused")
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}),
	})
	must(err)
	defer func() { _ = mock.Close() }()
	payToken := order(mock)
	_, err = mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim"})
	must(err)
	mock.Advance(0) // the first attempt ends

	must(mock.DeliverNow(payToken))
	mock.Advance(0)
	up.Store(true)
	must(mock.Resend(payToken))
	mock.Advance(0)
	events, err := mock.Timeline(payToken)
	must(err)
	for _, e := range events {
		fmt.Println(e.Kind)
	}
	fmt.Println(mock.Deliveries()[0].Status, "after", len(mock.Deliveries()[0].Attempts), "attempts")
	seen := mock.Requests()[0] // its token is not shown
	fmt.Println(seen.Method, seen.Path, seen.Status)
	// Output:
	// created
	// deposit
	// webhook
	// webhook
	// resend
	// webhook
	// delivered after 3 attempts
	// POST /payments 200
}
