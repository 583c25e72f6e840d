// Command quickstart runs the main job for real, over HTTP on loopback: it starts the
// mock of the service, creates three payments, deposits them, and receives one by
// poll, one by webhook and one by both. Each is granted once.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		stop()
		os.Exit(1)
	}
}

// run tells the story. It takes about a second.
func run(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	// The service. In production this is BaseURL and a token from its dashboard.
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		return err
	}
	if err := mock.Start(); err != nil {
		return err
	}
	defer func() { _ = mock.Close() }()

	m, err := newMerchant(mock.URL(), mock.CheckoutURL(), mock.Token(), out)
	if err != nil {
		return err
	}
	defer m.close()
	m.say("The service runs at %s, the merchant's webhook at %s.", mock.URL(), m.hookURL)

	for _, chapter := range []func(context.Context, *mockserver.Server, *merchant) error{byPoll, byWebhook, byBoth} {
		if err := chapter(ctx, mock, m); err != nil {
			return err
		}
	}
	return m.verdict()
}

// byPoll: no webhook is configured; the poller finds the payment.
func byPoll(ctx context.Context, mock *mockserver.Server, m *merchant) error {
	id, err := m.order(ctx, "order-1", 10_000)
	if err != nil {
		return err
	}
	if err := m.deposit(mock, id, "Kim"); err != nil {
		return err
	}
	stopPolling := m.poll(ctx)
	err = m.awaitGrant(ctx, "order-1")
	return first(err, stopPolling())
}

// byWebhook: the poller rests; the service calls the merchant, who confirms.
func byWebhook(ctx context.Context, mock *mockserver.Server, m *merchant) error {
	if err := mock.SetWebhook(mock.Token(), m.hookURL); err != nil {
		return err
	}
	id, err := m.order(ctx, "order-2", 25_000)
	if err != nil {
		return err
	}
	if err := m.deposit(mock, id, "Lee"); err != nil {
		return err
	}
	if err := m.awaitGrant(ctx, "order-2"); err != nil {
		return err
	}
	return m.awaitAnswer(ctx, id)
}

// byBoth: the webhook is late on its way, so the poll comes first; then the webhook
// names a payment that is granted already.
func byBoth(ctx context.Context, mock *mockserver.Server, m *merchant) error {
	letThrough := m.holdWebhooks()
	id, err := m.order(ctx, "order-3", 7_000)
	if err != nil {
		return err
	}
	if err := m.deposit(mock, id, "Park"); err != nil {
		return err
	}
	stopPolling := m.poll(ctx)
	if err := m.awaitGrant(ctx, "order-3"); err != nil {
		return first(err, stopPolling())
	}
	letThrough()
	err = m.awaitAnswer(ctx, id)
	return first(err, stopPolling())
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// newMerchant wires the SDK: one client, one sink that both channels share, a
// webhook handler and a poller.
func newMerchant(baseURL, checkoutURL, token string, out io.Writer) (*merchant, error) {
	m := &merchant{ledger: newLedger(out), gate: make(chan struct{}), answers: make(chan answer, 16)}
	close(m.gate) // open
	var err error
	if m.client, err = payments.New(payments.Config{BaseURL: baseURL, CheckoutURL: checkoutURL, Token: token}); err != nil {
		return nil, err
	}
	// Memory forgets when the process ends: right for a demonstration, not for money.
	sink, err := webhook.NewMemory(m.grant, nil)
	if err != nil {
		return nil, err
	}
	hook, err := webhook.New(webhook.Config{Client: m.client, Sink: sink, OnDelivery: m.onDelivery})
	if err != nil {
		return nil, err
	}
	m.poller, err = poller.New(poller.Config{
		Client: m.client, Sink: sink, OnEvent: m.onEvent,
		IntervalMin: 100 * time.Millisecond, IntervalMax: 200 * time.Millisecond, // the default is 3–5 s
	})
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at start-up
	if err != nil {
		return nil, err
	}
	m.hookURL = "http://" + ln.Addr().String() + "/hook"
	m.server = &http.Server{
		Handler: m.delayed(hook), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() { _ = m.server.Serve(ln) }()
	return m, nil
}

// order creates a payment and gives the customer the link.
func (m *merchant) order(ctx context.Context, identifier string, price int64) (uuid.UUID, error) {
	amount := payments.NewAmount(price)
	m.expect(identifier, amount)
	created, err := m.client.Create(ctx, payments.CreateRequest{
		Title: "Sword", Identifier: identifier, Amount: amount,
		Items: []payments.Item{{Name: "Sword", Price: amount, Count: 1}},
	})
	if err != nil {
		return uuid.Nil, err
	}
	link, err := m.client.CheckoutURL(created.PayToken)
	if err != nil {
		return uuid.Nil, err
	}
	m.say("\n%s: the merchant asks for %s; the customer pays at %s", identifier, amount, link)
	return created.PayToken, nil
}
