package mockserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// A merchant creates a payment, the payer pays, and a poll brings the record.
func Example() {
	mock, err := mockserver.New(mockserver.Config{
		Clock: mockserver.NewStoppedClock(time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = mock.Close() }()
	client := &http.Client{Transport: mock.Transport()}

	resp, err := client.Post(mock.URL()+"/payments", "application/json",
		strings.NewReader(`{"token":"test_demo","title":"100 diamonds","identifier":"player-7"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var created struct{ PayToken string }
	_ = json.NewDecoder(resp.Body).Decode(&created)
	_ = resp.Body.Close()

	if _, err := mock.Deposit(created.PayToken, mockserver.Deposit{Payer: "Kim", Amount: 10000}); err != nil {
		fmt.Println(err)
		return
	}

	resp, err = client.Get(mock.URL() + "/callback/rest?token=" + mock.Token())
	if err != nil {
		fmt.Println(err)
		return
	}
	var record struct {
		Identifier, Status string
		PaidAmount         int64  `json:"paid_amount"`
		VerifiedTS         string `json:"verified_ts"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&record)
	_ = resp.Body.Close()
	fmt.Println(record.Identifier, record.Status, record.PaidAmount, record.VerifiedTS)
	// Output: player-7 COMPLETE 10000 2025-03-01T12:00:00Z
}

// A receiver that is down for a while gets its webhook later, without the
// test waiting for it.
func ExampleServer_Advance() {
	down := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("connection refused")
	})
	mock, err := mockserver.New(mockserver.Config{
		Clock:            mockserver.NewStoppedClock(time.Time{}),
		Applications:     []mockserver.Application{{WebhookURL: "http://127.0.0.1:9000/hook"}},
		WebhookTransport: down,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = mock.Close() }()
	client := &http.Client{Transport: mock.Transport()}
	resp, err := client.Post(mock.URL()+"/payments", "application/json",
		strings.NewReader(`{"token":"test_demo","title":"100 diamonds","identifier":"player-7"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resp.Body.Close()
	if _, err := mock.Deposit(mock.Payments()[0].ID, mockserver.Deposit{Amount: 10000}); err != nil {
		fmt.Println(err)
		return
	}
	mock.Advance(time.Hour)
	for _, delivery := range mock.Deliveries() {
		for _, a := range delivery.Attempts {
			fmt.Println(a.RetryCount, a.Started.Format(time.TimeOnly), a.Err)
		}
		fmt.Println(delivery.Status, "until", delivery.NextDue.Format(time.TimeOnly))
	}
	// Output:
	// 0 00:00:00 connection refused
	// 1 00:00:05 connection refused
	// 2 00:05:05 connection refused
	// 3 00:35:05 connection refused
	// pending until 02:35:05
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// order creates a payment of 10000, as a merchant's code would, and returns its payToken.
func order(mock *mockserver.Server) string {
	client := &http.Client{Transport: mock.Transport()}
	resp, err := client.Post(mock.URL()+"/payments", "application/json",
		strings.NewReader(`{"token":"`+mock.Token()+`","title":"100 diamonds","identifier":"player-7","amount":10000}`))
	must(err)
	var created struct{ PayToken string }
	readJSON(resp, &created)
	return created.PayToken
}

func readJSON(resp *http.Response, into any) {
	must(json.Unmarshal([]byte(bodyOf(resp)), into))
}

func bodyOf(resp *http.Response) string {
	body, err := io.ReadAll(resp.Body)
	must(err)
	must(resp.Body.Close())
	return string(body)
}

// must ends an example whose world is broken.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
