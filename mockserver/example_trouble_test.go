package mockserver_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// The answer to a poll is lost after the service has completed the payment. The client
// sees an error, and the next poll does not bring the payment back.
func ExampleServer_AddFault() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	payToken := order(mock)
	_, err = mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim"})
	must(err)

	must(mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 1}))
	client := &http.Client{Transport: mock.Transport()}
	for range 2 {
		if resp, err := client.Get(mock.URL() + "/callback/rest?token=" + mock.Token()); err != nil {
			fmt.Println("no answer")
		} else {
			fmt.Println(bodyOf(resp))
		}
	}
	p, _ := mock.Payment(payToken)
	fmt.Println("the service says", p.Status)
	fmt.Println(mock.FaultLog()[0])
	// Output:
	// no answer
	// {"error":"NO_PROCESSED_PAYMENT","error_msg":"no payment is waiting in PROGRESS; ask again in 3 to 5 seconds"}
	// the service says COMPLETE
	// next 1 drop-after
}

// The receiver of the webhooks is down for three days. On a stopped clock all ten
// attempts take no time, and the delivery is given up.
func ExampleServer_JumpToNextAttempt() {
	start := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	mock, err := mockserver.New(mockserver.Config{
		Clock:        mockserver.NewStoppedClock(start),
		Applications: []mockserver.Application{{WebhookURL: "http://127.0.0.1:9000/hook"}},
		WebhookTransport: roundTripFunc(func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("connection refused")
		}),
	})
	must(err)
	defer func() { _ = mock.Close() }()
	_, err = mock.Deposit(order(mock), mockserver.Deposit{Payer: "Kim"})
	must(err)

	mock.Advance(0) // lets the first attempt end
	for {
		attempt, ok := mock.JumpToNextAttempt()
		if !ok {
			break
		}
		fmt.Println("retry", attempt.RetryCount, "after", attempt.Started.Sub(start))
	}
	fmt.Println(mock.Deliveries()[0].Status)
	// Output:
	// retry 1 after 5s
	// retry 2 after 5m5s
	// retry 3 after 35m5s
	// retry 4 after 2h35m5s
	// retry 5 after 7h35m5s
	// retry 6 after 17h35m5s
	// retry 7 after 31h35m5s
	// retry 8 after 51h35m5s
	// retry 9 after 75h35m5s
	// failed
}
