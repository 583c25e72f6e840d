package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

var errTest = errors.New("made to fail")

// service is a Confirmer that knows which payments are paid.
type service struct {
	mu    sync.Mutex
	paid  map[uuid.UUID]payments.Payment
	calls atomic.Int64
	// during, if set, runs in each call.
	during func(ctx context.Context, id uuid.UUID) error
}

func newService(paid ...payments.Payment) *service {
	s := &service{paid: map[uuid.UUID]payments.Payment{}}
	for _, p := range paid {
		s.pay(p)
	}
	return s
}

func (s *service) pay(p payments.Payment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paid[p.ID] = p
}

func (s *service) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	s.calls.Add(1)
	if s.during != nil {
		if err := s.during(ctx, id); err != nil {
			return payments.Payment{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.paid[id]
	if !ok {
		return payments.Payment{}, errTest
	}
	return p, nil
}

// sink is a Sink made of two functions; without them it is empty and accepts all.
type sink struct {
	handled func(context.Context, uuid.UUID) (bool, error)
	accept  func(context.Context, payments.Payment) error
}

func (s *sink) Handled(ctx context.Context, id uuid.UUID) (bool, error) {
	if s.handled == nil {
		return false, nil
	}
	return s.handled(ctx, id)
}

func (s *sink) Accept(ctx context.Context, p payments.Payment) error {
	if s.accept == nil {
		return nil
	}
	return s.accept(ctx, p)
}

// ledger is a Ledger that knows one state, and remembers what it is told.
type ledger struct {
	sink
	state             webhook.State
	stateErr, hintErr error
	told              []string
}

func (l *ledger) State(context.Context, uuid.UUID) (webhook.State, error) { return l.state, l.stateErr }

func (l *ledger) RecordHint(context.Context, uuid.UUID) error {
	l.told = append(l.told, "hint")
	return l.hintErr
}

func (l *ledger) ConfirmFailed(_ context.Context, _ uuid.UUID, err error) error {
	l.told = append(l.told, err.Error())
	if errors.Is(err, errTest) {
		panic("contained")
	}
	return errTest
}

// granter is a merchant's handler that counts grants by id.
type granter struct {
	mu     sync.Mutex
	grants map[uuid.UUID]int
}

func newGranter() *granter { return &granter{grants: map[uuid.UUID]int{}} }

func (g *granter) grant(_ context.Context, p payments.Payment) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grants[p.ID]++
	return nil
}

func (g *granter) count(id uuid.UUID) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.grants[id]
}

func newMemory(t testing.TB, handler func(context.Context, payments.Payment) error, opts *webhook.MemoryOptions) *webhook.Memory {
	t.Helper()
	m, err := webhook.NewMemory(handler, opts)
	require.NoError(t, err)
	return m
}

// observed is a Handler with the events of its deliveries.
type observed struct {
	*webhook.Handler
	seen *events
}

func newHandler(t testing.TB, cfg webhook.Config) observed {
	t.Helper()
	seen, onDelivery := &events{}, cfg.OnDelivery
	cfg.OnDelivery = func(e webhook.Event) {
		seen.add(e)
		if onDelivery != nil {
			onDelivery(e)
		}
	}
	if cfg.Client == nil {
		cfg.Client = newService()
	}
	if cfg.Sink == nil && cfg.Ledger == nil {
		cfg.Sink = &sink{}
	}
	h, err := webhook.New(cfg)
	require.NoError(t, err)
	return observed{h, seen}
}

// newPayment returns a new COMPLETE payment of 10000.
func newPayment() payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(10000), VerifiedAt: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func delivery(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/hooks/deposit", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func named(id uuid.UUID) *http.Request { return delivery(`{"payment_id":"` + id.String() + `"}`) }

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// events collects what OnDelivery is given.
type events struct {
	mu   sync.Mutex
	list []webhook.Event
}

func (e *events) add(event webhook.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

func (e *events) all() []webhook.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]webhook.Event(nil), e.list...)
}

func (e *events) last(t *testing.T) webhook.Event {
	t.Helper()
	list := e.all()
	require.NotEmpty(t, list)
	return list[len(list)-1]
}
