package mockserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// exampleT takes the place of the *testing.T of a test.
type exampleT struct{ cleanups []func() }

func (*exampleT) Helper()                   {}
func (*exampleT) Logf(string, ...any)       {}
func (*exampleT) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*exampleT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (t *exampleT) Cleanup(f func())        { t.cleanups = append(t.cleanups, f) }

// end is the end of the test.
func (t *exampleT) end() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

// In a test the server is one line, and what must have happened to a payment is one more.
// Here the merchant has not answered the webhook yet.
func ExampleRunT() {
	t := &exampleT{}
	defer t.end()
	mock := mockserver.RunT(t)
	// point the code under test at mock.URL() with the token mock.Token()
	receiver := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(receiver.Close)
	must(mock.SetWebhook(mock.Token(), receiver.URL))
	payToken := order(mock)
	_, err := mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim", Amount: 10000})
	must(err)

	mock.Advance(0) // waits for webhooks in flight
	fmt.Println("paid:", mock.CheckStatus(t, payToken, mockserver.StatusProgress))
	fmt.Println("delivered:", mock.CheckDelivered(&silentT{t}, payToken))

	// The merchant polls.
	resp, err := http.Get(mock.URL() + "/callback/rest?token=" + mock.Token())
	must(err)
	bodyOf(resp)
	fmt.Println("completed once:", mock.CheckCompletedOnce(t, payToken))
	mock.Advance(time.Minute) // the next attempt is not needed any more
	fmt.Println("nothing waits:", mock.CheckNothingWaiting(t))
	// Output:
	// paid: true
	// delivered: false
	// completed once: true
	// nothing waits: true
}

// silentT is for a check that is meant to fail.
type silentT struct{ *exampleT }

func (silentT) Errorf(string, ...any) {}

// A test that lists faults: operations, kinds, the faults that are set, and their log.
func ExampleServer_SetFaults() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	fmt.Println(mockserver.FaultOperations())
	fmt.Println(slices.Contains(mockserver.FaultKinds("next"), "drop-after"), mockserver.FaultKinds("refund") == nil)

	must(mock.SetFaults(mockserver.Faults{Rate: 1, Seed: 7, Operations: []string{"banks"}, Kinds: []string{"html"}}))
	must(mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 2}))
	fmt.Println(mock.Faults().Rules, mock.Faults().Rate)
	resp, err := (&http.Client{Transport: mock.Transport()}).Get(mock.URL() + "/mobile/banks")
	must(err)
	fmt.Println(resp.StatusCode, strings.HasPrefix(bodyOf(resp), "<!DOCTYPE html>"))
	fmt.Println(mock.FaultLog())

	mock.ClearFaults()
	fmt.Println(len(mock.Faults().Rules), mock.Faults().Rate, len(mock.FaultLog()))
	// Output:
	// [create next confirm status resend banks deposit webhook]
	// true true
	// [drop-after] 1
	// 200 true
	// [banks 1 html]
	// 0 0 0
}

// A client is tested against every way in which deployments may word their answers.
func ExampleDialects() {
	for _, option := range mockserver.DialectOptions() {
		fmt.Println(option.Name, strings.Join(option.Values, " "))
	}
	product := 1
	for _, option := range mockserver.DialectOptions() {
		product *= len(option.Values)
	}
	all := mockserver.Dialects()
	fmt.Println("all of them:", len(all) == product, "the first:", all[0])
	// Output:
	// envelope flat payment data result old
	// errors text object code
	// status 200 4xx
	// empty NO_PROCESSED_PAYMENT NO_PROGRESS_PAYMENTS 204 null {} nothing
	// extra no yes
	// error_null no yes
	// all of them: true the first: default
}

// 75 hours of webhook attempts in 75 seconds, for a demonstration.
func ExampleNewAcceleratedClock() {
	start := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	mock, err := mockserver.New(mockserver.Config{Clock: mockserver.NewAcceleratedClock(start, 3600)})
	must(err)
	defer func() { _ = mock.Close() }()
	mock.Advance(24 * time.Hour) // it can be moved as well
	fmt.Println("a day later:", mock.Now().After(start.Add(24*time.Hour)))
	// Output: a day later: true
}

// The server as an http.Handler: the API, the pages for people and the control API. An
// error has HTTP status 200 unless the dialect says otherwise.
func ExampleServer_Handler() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	server := httptest.NewServer(mock.Handler())
	defer server.Close()
	for _, path := range []string{"/mobile/banks", "/_mock/account", "/store/", "/refund"} {
		resp, err := http.Get(server.URL + path)
		must(err)
		bodyOf(resp)
		kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		fmt.Println(path, resp.StatusCode, kind)
	}
	// Output:
	// /mobile/banks 200 application/json
	// /_mock/account 200 application/json
	// /store/ 200 text/html
	// /refund 200 application/json
}

// One server for many tests: each begins afresh.
func ExampleServer_Reset() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	must(mock.SaveApplication(mockserver.Application{Token: "test_second"}))
	must(mock.AddFault(mockserver.Fault{Operation: "next", Kind: "cut"}))
	must(mock.Reset())
	fmt.Println(len(mock.Applications()), "application,", len(mock.Faults().Rules), "faults")
	// Output: 1 application, 0 faults
}
