package poller_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

var errTest = errors.New("made to fail")

// answer is what a fake service says to one poll.
type answer struct {
	p     payments.Payment
	err   error
	takes time.Duration
	panic any
}

// source answers from a script, then that no payment waits. It fails the test if two
// polls overlap.
type source struct {
	t      *testing.T
	mu     sync.Mutex
	script []answer
	polls  []time.Time
	busy   atomic.Bool
	// during, if set, runs in each poll.
	during func()
}

func newSource(t *testing.T, script ...answer) *source { return &source{t: t, script: script} }

func (s *source) Next(context.Context) (payments.Payment, error) {
	assert.False(s.t, s.busy.Swap(true), "two polls at once")
	defer s.busy.Store(false)
	if s.during != nil {
		s.during()
	}
	a := s.begin()
	<-time.After(a.takes) // whatever the context says: the request is on its way
	if a.panic != nil {
		panic(a.panic)
	}
	return a.p, a.err
}

func (s *source) begin() answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls = append(s.polls, time.Now())
	if len(s.script) == 0 {
		return answer{err: payments.ErrNoProcessedPayment}
	}
	a := s.script[0]
	s.script = s.script[1:]
	return a
}

func (s *source) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Time(nil), s.polls...)
}

// gaps are the waits between the polls.
func (s *source) gaps() []time.Duration {
	list := s.times()
	gaps := make([]time.Duration, 0, len(list))
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, list[i].Sub(list[i-1]))
	}
	return gaps
}

// sink keeps what it is given, after failing as often as told. It fails the test if
// it has a payment twice at a time.
type sink struct {
	t     *testing.T
	mu    sync.Mutex
	fail  map[uuid.UUID]int // how often still
	taken []payments.Payment
	calls []call
	with  map[uuid.UUID]bool
	// during, if set, runs in each call.
	during func(ctx context.Context, p payments.Payment) error
}

type call struct {
	id uuid.UUID
	at time.Time
}

func newSink(t *testing.T) *sink {
	return &sink{t: t, fail: map[uuid.UUID]int{}, with: map[uuid.UUID]bool{}}
}

func (s *sink) Accept(ctx context.Context, p payments.Payment) error {
	if err := s.enter(p); err != nil {
		return err
	}
	var err error
	if s.during != nil {
		err = s.during(ctx, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.with[p.ID] = false
	if err == nil {
		s.taken = append(s.taken, p)
	}
	return err
}

func (s *sink) enter(p payments.Payment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.False(s.t, s.with[p.ID], "one payment twice at a time")
	s.calls = append(s.calls, call{p.ID, time.Now()})
	if s.fail[p.ID] != 0 {
		s.fail[p.ID]--
		return errTest
	}
	s.with[p.ID] = true
	return nil
}

func (s *sink) failing(p payments.Payment, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[p.ID] = times
}

func (s *sink) ids() []uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ids(s.taken)
}

func (s *sink) callsFor(p payments.Payment) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []time.Time
	for _, c := range s.calls {
		if c.id == p.ID {
			list = append(list, c.at)
		}
	}
	return list
}

func ids(list []payments.Payment) []uuid.UUID {
	out := make([]uuid.UUID, 0, len(list))
	for _, p := range list {
		out = append(out, p.ID)
	}
	return out
}

// ledger is a Ledger, and the Journal of its one Run, that keeps what it is told of losses.
type ledger struct {
	*sink
	lost []error
}

func (l *ledger) Begin() poller.Journal { return l }

func (l *ledger) BeforePoll(ctx context.Context) (context.Context, error) { return ctx, nil }

func (l *ledger) PollLost(_ context.Context, err error) error {
	l.lost = append(l.lost, err)
	return nil
}

func (l *ledger) Close(context.Context) error { return nil }

// events collects what OnEvent is given.
type events struct {
	mu   sync.Mutex
	list []poller.Event
}

func (e *events) add(event poller.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

func (e *events) of(kind poller.Kind) []poller.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []poller.Event
	for _, event := range e.list {
		if event.Kind == kind {
			list = append(list, event)
		}
	}
	return list
}

func newPayment() payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(10000),
	}
}

// found turns payments into a script of polls that find them.
func found(list ...payments.Payment) []answer {
	script := make([]answer, len(list))
	for i, p := range list {
		script[i].p = p
	}
	return script
}

func newPayments(n int) []payments.Payment {
	list := make([]payments.Payment, n)
	for i := range list {
		list[i] = newPayment()
	}
	return list
}

func newPoller(t *testing.T, cfg poller.Config) *poller.Poller {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := poller.New(cfg)
	require.NoError(t, err)
	return p
}

// runFor runs p for d and returns how long it took to stop, and its error.
func runFor(t *testing.T, p *poller.Poller, d time.Duration) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(d, cancel)
	began := time.Now()
	err := p.Run(ctx)
	return time.Since(began) - d, err
}

// mustRun runs p for d, without an error.
func mustRun(t *testing.T, p *poller.Poller, d time.Duration) {
	t.Helper()
	_, err := runFor(t, p, d)
	require.NoError(t, err)
}
