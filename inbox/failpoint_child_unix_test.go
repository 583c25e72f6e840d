//go:build unix

package inbox_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// merchantVariable makes this test binary a merchant that trouble befalls at a step.
const merchantVariable = "DEPOSITPAY_TEST_INBOX_MERCHANT"

// action is what happens at a step, the first time.
type action string

const (
	kill  action = "kill"  // the process gets SIGKILL
	fail  action = "error" // the step fails, though it was done
	delay action = "delay" // the process stands still there until its lease is long over
)

type merchantConfig struct {
	URL, Token  string // of the service
	DSN, SQLite string // one of them
	Lease       time.Duration
	Step        int // or noStep
	Action      action
}

func init() {
	child.Main(merchantVariable, func(cfg merchantConfig) error {
		return (&shopkeeper{merchantConfig: cfg, commands: make(chan string), released: make(chan struct{})}).main()
	})
}

// shopkeeper is a shop with all parts: webhook, poller and inbox. It does what it is told on
// its standard input, and says what happens.
type shopkeeper struct {
	merchantConfig
	client   *payments.Client
	box      *inbox.Inbox
	ledger   *inbox.SQLite
	hook     http.Handler
	commands chan string
	released chan struct{} // ends a delay
	offered  atomic.Bool   // a record was offered to the inbox
	once     sync.Once
	mu       sync.Mutex // of err
	err      error
}

var errTrouble = fmt.Errorf("trouble at a failpoint: %w", payments.ErrAmbiguous)

// at is called at every step. Nobody outside sees the difference between a lost answer
// and none: all errors are ambiguous.
func (m *shopkeeper) at(step int) (err error) {
	if step != m.Step || step == inbox.StepAccepted && !m.offered.Load() {
		return nil
	}
	m.once.Do(func() {
		child.PrintLine("reached")
		switch m.Action {
		case kill:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case fail:
			err = errTrouble
		case delay:
			m.standStill()
		}
	})
	return err
}

// standStill waits until another process has taken over. Where there can be none it waits
// until the lease is over.
func (m *shopkeeper) standStill() {
	if m.SQLite == "" {
		<-m.released
		return
	}
	<-time.After(2 * m.Lease)
}

// RoundTrip is the transport: it has read the whole answer to a poll when it comes to its step.
func (m *shopkeeper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/callback/rest") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	if err == nil && strings.Contains(string(body), "paid_amount") {
		err = m.at(stepAnswered)
	}
	return resp, err
}

// Next is the poller's source.
func (m *shopkeeper) Next(ctx context.Context) (payments.Payment, error) {
	p, err := m.client.Next(ctx)
	if err == nil {
		err = m.at(stepJournaled)
	}
	return p, err
}

// Confirm, Create and Decode are the service, for webhook and inbox.
func (m *shopkeeper) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	p, err := m.client.Confirm(ctx, id)
	if err == nil {
		err = m.at(stepConfirmed)
	}
	return p, err
}

func (m *shopkeeper) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	return m.client.Create(ctx, req)
}

func (m *shopkeeper) Decode(raw []byte) (payments.Payment, error) { return m.client.Decode(raw) }

// webhookLedger is the inbox as the webhook handler sees it.
type webhookLedger struct {
	webhook.Ledger
	m *shopkeeper
}

func (l webhookLedger) RecordHint(ctx context.Context, id uuid.UUID) error {
	err := l.Ledger.RecordHint(ctx, id)
	if err == nil {
		err = l.m.at(stepNoted)
	}
	return err
}

func (l webhookLedger) Accept(ctx context.Context, p payments.Payment) error {
	return l.m.offer(ctx, l.Ledger, p)
}

// pollLedger is the inbox as the poller sees it.
type pollLedger struct {
	poller.Ledger
	m *shopkeeper
}

func (l pollLedger) Accept(ctx context.Context, p payments.Payment) error {
	return l.m.offer(ctx, l.Ledger, p)
}

func (m *shopkeeper) offer(ctx context.Context, ledger poller.Sink, p payments.Payment) error {
	m.offered.Store(true)
	err := ledger.Accept(ctx, p)
	child.PrintLine("offered")
	return err
}

// keep keeps the error of a part that has ended.
func (m *shopkeeper) keep(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = errors.Join(m.err, err)
}

func (m *shopkeeper) main() error {
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if in.Text() == "release" {
				close(m.released)
				continue
			}
			m.commands <- in.Text()
		}
		os.Exit(0) // the test is over, or killed
	}()
	if err := m.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var under sync.WaitGroup
	child.PrintLine("ready")
	for command := range m.commands {
		word, argument, _ := strings.Cut(command, " ")
		switch word {
		case "create":
			created, err := m.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: argument, Amount: payments.NewAmount(1000)})
			if err != nil {
				return err
			}
			child.PrintLine("created", created.PayToken)
		case "deliver":
			under.Go(func() { m.deliver(argument) })
		case "poll":
			under.Go(func() { m.keep(m.poll(ctx)) })
		case "run":
			under.Go(func() { m.keep(m.box.Run(ctx)) })
		case "settle":
			if err := m.settle(ctx, argument); err != nil {
				return err
			}
		case "end":
			cancel()
			under.Wait()
			return errors.Join(m.err, m.close())
		}
	}
	return nil
}

func (m *shopkeeper) open() (err error) {
	m.client, err = payments.New(payments.Config{BaseURL: m.URL, Token: m.Token, MaxRetries: -1, Transport: m})
	if err != nil {
		return err
	}
	cfg := inbox.Config{
		Client: m, Handler: grant, AcceptUnknown: true, HandlerTimeout: time.Minute, MaxAttempts: 1000,
		BackoffMin: time.Millisecond, BackoffMax: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	}
	if m.SQLite != "" {
		if m.ledger, err = sqlite.Open(m.SQLite, nil); err != nil {
			return err
		}
		cfg.SQLite = m.ledger
	} else if cfg.DB, err = sql.Open("pgx", m.DSN); err != nil {
		return err
	}
	m.box, err = inbox.Open(context.Background(), inbox.WithHook(inbox.WithLease(cfg, m.Lease), m.at))
	if err != nil {
		return err
	}
	m.hook, err = webhook.New(webhook.Config{Client: m, Ledger: webhookLedger{m.box.Webhook(), m}, Logger: cfg.Logger})
	return err
}

func (m *shopkeeper) close() error {
	err := m.box.Close()
	if m.ledger != nil {
		err = errors.Join(err, m.ledger.Close())
	}
	return err
}

// deliver is what the service does with a webhook.
func (m *shopkeeper) deliver(id string) {
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"payment_id":"`+id+`"}`))
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	m.hook.ServeHTTP(answer, req)
	child.PrintLine("status", answer.Code)
	if answer.Code == http.StatusOK {
		_ = m.at(stepAcknowledged) // there is nobody who could be told of an error
	}
}

func (m *shopkeeper) poll(ctx context.Context) error {
	p, err := poller.New(poller.Config{
		Client: m, Ledger: pollLedger{m.box.Poller(), m}, IntervalMin: 10 * time.Millisecond, IntervalMax: 20 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

// settle says "settled" when the payment is done.
func (m *shopkeeper) settle(ctx context.Context, key string) error {
	for {
		if _, err := m.box.Reconcile(ctx); err != nil {
			return err
		}
		switch e, err := m.box.Get(ctx, key); {
		case err == nil && e.Stage == inbox.StageDone:
			child.PrintLine("settled")
			return nil
		case err != nil && !errors.Is(err, inbox.ErrNotFound):
			return err
		}
		<-time.After(5 * time.Millisecond)
	}
}
