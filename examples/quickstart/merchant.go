package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// merchant is the other half of the story: the server, and what it waits for.
type merchant struct {
	*ledger
	client  *payments.Client
	poller  *poller.Poller
	server  *http.Server
	hookURL string
	answers chan answer // to webhooks

	mu   sync.Mutex
	gate chan struct{} // closed: webhooks pass
}

// answer is how the merchant answered a webhook.
type answer struct {
	id      uuid.UUID
	outcome webhook.Outcome
}

func (m *merchant) close() {
	_ = m.server.Close()
	m.client.CloseIdleConnections()
}

// deposit plays the customer and the bank: the phone app reports the deposit.
func (m *merchant) deposit(mock *mockserver.Server, id uuid.UUID, payer string) error {
	p, err := mock.Deposit(id.String(), mockserver.Deposit{Payer: payer})
	if err != nil {
		return err
	}
	m.say("  %s deposits; the payment is in %s", payer, p.Status)
	return nil
}

// poll runs the poller until the returned function is called.
func (m *merchant) poll(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- m.poller.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

func (m *merchant) onEvent(e poller.Event) {
	if e.Kind == poller.KindReceived {
		m.say("  a poll returns %s, %s", e.Payment.Identifier, e.Payment.Status)
	}
}

func (m *merchant) onDelivery(e webhook.Event) {
	m.say("  a webhook names payment %.8s…: %s, answered %d", e.PaymentID, e.Outcome, e.Status)
	m.answers <- answer{e.PaymentID, e.Outcome}
}

// awaitAnswer waits until the webhook of id was answered well.
func (m *merchant) awaitAnswer(ctx context.Context, id uuid.UUID) error {
	select {
	case a := <-m.answers:
		if a.id != id || a.outcome != webhook.OutcomeAccepted && a.outcome != webhook.OutcomeRepeated {
			return fmt.Errorf("webhook of %s: %s, want one of %s", a.id, a.outcome, id)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no webhook for %s: %w", id, ctx.Err())
	}
}

// holdWebhooks keeps webhooks on their way until the returned function is called.
func (m *merchant) holdWebhooks() (letThrough func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gate := make(chan struct{})
	m.gate = gate
	return func() { close(gate) }
}

func (m *merchant) delayed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		gate := m.gate
		m.mu.Unlock()
		select {
		case <-gate:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// ledger is the merchant's own book: what was asked for, and what was granted.
type ledger struct {
	out     io.Writer
	mu      sync.Mutex
	prices  map[string]payments.Amount
	grants  map[string]int
	granted chan string
}

func newLedger(out io.Writer) *ledger {
	return &ledger{out: out, prices: map[string]payments.Amount{}, grants: map[string]int{}, granted: make(chan string, 16)}
}

func (l *ledger) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, format+"\n", args...)
}

func (l *ledger) expect(identifier string, price payments.Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prices[identifier] = price
}

// grant is the merchant's handler: it gives the goods, after a look at the order.
func (l *ledger) grant(_ context.Context, p payments.Payment) error {
	l.mu.Lock()
	price, known := l.prices[p.Identifier]
	l.mu.Unlock()
	if !known || price != p.PaidAmount {
		return fmt.Errorf("payment %s of %s for %q does not match an order", p.ID, p.PaidAmount, p.Identifier)
	}
	l.say("  granted: %s, paid %s at %s", p.Identifier, p.PaidAmount, p.VerifiedAt.Format(time.TimeOnly))
	l.mu.Lock()
	l.grants[p.Identifier]++
	l.mu.Unlock()
	l.granted <- p.Identifier
	return nil
}

func (l *ledger) awaitGrant(ctx context.Context, identifier string) error {
	select {
	case got := <-l.granted:
		if got != identifier {
			return fmt.Errorf("granted %s, want %s", got, identifier)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s was not granted: %w", identifier, ctx.Err())
	}
}

// verdict is nil only if every order was granted, each once.
func (l *ledger) verdict() error {
	once := 0
	for identifier := range l.prices {
		switch n := l.grants[identifier]; n {
		case 0:
		case 1:
			once++
		default:
			return fmt.Errorf("%s was granted %d times", identifier, n)
		}
	}
	if once != len(l.prices) {
		return fmt.Errorf("granted %d of %d payments", once, len(l.prices))
	}
	l.say("\ngranted %d of %d payments, each once", once, len(l.prices))
	return nil
}
