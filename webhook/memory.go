package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// Why Memory does not pass a payment to the handler; see MemoryOptions.OnReview.
var (
	// ErrNoID: the record names no payment, so a repeat could not be told from another payment.
	ErrNoID = errors.New("the record has no payment id")
	// ErrNoMoney: the amount is not above 0. A gift voucher that failed arrives like that.
	ErrNoMoney = errors.New("the amount is not above 0")
)

const defaultMemorySize = 1_000_000

// Memory is a Sink that keeps only the ids of the payments it has seen, in memory. One
// Memory may serve a Handler and pollers at once: a payment that comes by both channels is
// granted once. It is safe for concurrent use.
//
// IT FORGETS EVERYTHING WHEN THE PROCESS ENDS. A payment that comes again after a
// restart is granted again, a payment whose handler fails may never come again
// (interface §6.5), and a crash between the handler's effect and its return can cause
// either. It is for trials, tests, and handlers that are themselves durable and idempotent
// by payment id. For money use a durable Sink.
type Memory struct {
	handler  func(context.Context, payments.Payment) error
	onReview func(payments.Payment, error)

	mu   sync.Mutex
	runs map[uuid.UUID]*run
	seen *boundedMap[bool]
}

// run is one run of the handler, or of OnReview.
type run struct {
	review bool
	done   chan struct{}
	err    error // may be read once done is closed
}

// MemoryOptions are the options of NewMemory.
type MemoryOptions struct {
	// Size is how many ids are kept, at about 60 bytes each; beyond it the oldest one is
	// forgotten and would be granted again. Default 1,000,000.
	Size int
	// OnReview is given payments that a person must look at before they are granted, with
	// ErrNoID or ErrNoMoney: once per id for ErrNoMoney, every time for ErrNoID. Store them: the
	// service does not return them again. A panic makes Accept fail. OnReview may be called from
	// many goroutines at once. Default: a warning to slog.Default().
	OnReview func(p payments.Payment, reason error)
}

// NewMemory returns a Memory that passes payments to handler; opts may be nil. The error
// names the wrong argument.
//
// The handler succeeds at most once per id. It never runs twice at a time for one id, but
// at once for different ids. If it fails or panics, the next Accept of the payment runs it
// again. Its ctx is the one of the Accept that runs it.
func NewMemory(handler func(ctx context.Context, p payments.Payment) error, opts *MemoryOptions) (*Memory, error) {
	m := &Memory{handler: handler, onReview: warnReview, runs: make(map[uuid.UUID]*run)}
	size := defaultMemorySize
	if opts != nil && opts.OnReview != nil {
		m.onReview = opts.OnReview
	}
	if opts != nil && opts.Size != 0 {
		size = opts.Size
	}
	switch {
	case handler == nil:
		return nil, errors.New("webhook: NewMemory: handler: is required")
	case size < 0:
		return nil, fmt.Errorf("webhook: NewMemory: MemoryOptions.Size: %d is negative", size)
	}
	m.seen = newBoundedMap[bool](size)
	return m, nil
}

func warnReview(p payments.Payment, reason error) {
	slog.Default().Warn("depositpay: a payment needs a look and was not granted",
		slog.String("reason", reason.Error()),
		slog.String("payment_id", p.ID.String()),
		slog.String("identifier", p.Identifier),
		slog.String("method", string(p.Method)),
		slog.String("paid_amount", p.PaidAmount.String()),
		slog.Time("verified_ts", p.VerifiedAt))
}

// Handled reports whether the payment was granted. It never fails. A payment in review
// is not handled: a later record of it may have a positive amount.
func (m *Memory) Handled(_ context.Context, id uuid.UUID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	granted, known := m.seen.get(id)
	return known && granted, nil
}

// Accept runs the handler for p, unless it has succeeded for p.ID. If the handler is
// running for p.ID, Accept waits for that run, or for ctx, and returns the same result.
//
// A record that is COMPLETE but has no id or no positive amount goes to OnReview
// instead, and Accept returns nil: the record is final, and another delivery would not
// change it. If a record with a positive amount comes later for the same id, it is
// granted. A record that is not COMPLETE is not final: the error is
// payments.ErrNotComplete, and nothing is kept.
func (m *Memory) Accept(ctx context.Context, p payments.Payment) error {
	if p.Status != payments.StatusComplete {
		return fmt.Errorf("webhook: payment %s: %w", p.ID, payments.ErrNotComplete)
	}
	switch {
	case p.ID == uuid.Nil:
		return m.review(p, ErrNoID)
	case p.PaidAmount.Sign() <= 0:
		return m.once(ctx, p.ID, true, func() error { return m.review(p, ErrNoMoney) })
	}
	return m.once(ctx, p.ID, false, func() error {
		return safecall.Do("webhook: the handler", func() error { return m.handler(ctx, p) })
	})
}

func (m *Memory) review(p payments.Payment, reason error) error {
	return safecall.Do("webhook: OnReview", func() error { m.onReview(p, reason); return nil })
}

// once runs do unless it has succeeded for id.
func (m *Memory) once(ctx context.Context, id uuid.UUID, review bool, do func() error) error {
	for {
		r, mine := m.begin(id, review)
		switch {
		case r == nil:
			return nil
		case mine:
			defer m.end(id, r) // also if do ends the goroutine
			r.err = do()
			return r.err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("webhook: the handler still runs for payment %s: %w", id, ctx.Err())
		}
		if r.err != nil || r.review == review || review {
			return r.err
		}
		// The other run was a review; this record must be granted.
	}
}

// begin returns nil if there is nothing to do, or the run under way, or a new one.
func (m *Memory) begin(id uuid.UUID, review bool) (r *run, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if granted, known := m.seen.get(id); known && (granted || review) {
		return nil, false
	}
	if r := m.runs[id]; r != nil {
		return r, false
	}
	r = &run{review: review, done: make(chan struct{}), err: errExited}
	m.runs[id] = r
	return r, true
}

func (m *Memory) end(id uuid.UUID, r *run) {
	m.mu.Lock()
	delete(m.runs, id)
	if r.err == nil {
		m.seen.add(id, !r.review)
	}
	m.mu.Unlock()
	close(r.done)
}
