package webhook_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// One Memory serves both channels.
var (
	_ webhook.Sink = (*webhook.Memory)(nil)
	_ poller.Sink  = (*webhook.Memory)(nil)

	_ webhook.Confirmer = (*payments.Client)(nil)
	_ poller.Source     = (*payments.Client)(nil)
)

func handled(t *testing.T, m *webhook.Memory, id uuid.UUID) bool {
	t.Helper()
	known, err := m.Handled(t.Context(), id)
	require.NoError(t, err)
	return known
}

// TestMemorySingleFlight: Accepts of one id at once share one run and its result,
// whether it fails or not.
func TestMemorySingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		var runs atomic.Int64
		results := make(chan error)
		m := newMemory(t, func(context.Context, payments.Payment) error { runs.Add(1); return <-results }, nil)
		for round, result := range []error{errTest, nil} {
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() { assert.ErrorIs(t, m.Accept(t.Context(), p), result) })
			}
			synctest.Wait()
			assert.EqualValues(t, round+1, runs.Load())
			assert.False(t, handled(t, m, p.ID))
			results <- result
			all.Wait()
		}
		assert.True(t, handled(t, m, p.ID))
		require.NoError(t, m.Accept(t.Context(), p))
		assert.EqualValues(t, 2, runs.Load())
	})
}

func TestMemoryRunsDifferentPaymentsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var at atomic.Int64
		m := newMemory(t, func(context.Context, payments.Payment) error { at.Add(1); <-gate; return nil }, nil)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { assert.NoError(t, m.Accept(t.Context(), newPayment())) })
		}
		synctest.Wait()
		assert.EqualValues(t, 5, at.Load())
		close(gate)
		all.Wait()
	})
}

// TestMemoryWaiterGivesUp: a waiter returns when its context ends, and no other one does.
func TestMemoryWaiterGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		gate := make(chan struct{})
		m := newMemory(t, func(context.Context, payments.Payment) error { <-gate; return nil }, nil)
		first := make(chan error, 1)
		go func() { first <- m.Accept(t.Context(), p) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- m.Accept(ctx, p) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-second, context.Canceled)
		close(gate)
		require.NoError(t, <-first)
	})
}

func TestMemoryHandlerPanics(t *testing.T) {
	t.Parallel()
	p := newPayment()
	broken := true
	m := newMemory(t, func(context.Context, payments.Payment) error {
		if broken {
			panic(errTest)
		}
		return nil
	}, nil)
	err := m.Accept(t.Context(), p)
	require.ErrorIs(t, err, errTest)
	require.ErrorContains(t, err, "the handler panicked")
	assert.False(t, handled(t, m, p.ID))
	broken = false
	require.NoError(t, m.Accept(t.Context(), p))
	assert.True(t, handled(t, m, p.ID))
}

// TestMemoryForgetsOldestFirst: the oldest id is forgotten first, and a repeat does not make an id younger.
func TestMemoryForgetsOldestFirst(t *testing.T) {
	t.Parallel()
	m := newMemory(t, newGranter().grant, &webhook.MemoryOptions{Size: 3})
	list := make([]payments.Payment, 7)
	for i := range list {
		list[i] = newPayment()
		require.NoError(t, m.Accept(t.Context(), list[i]))
		require.NoError(t, m.Accept(t.Context(), list[max(0, i-2)]), "a repeat of the oldest")
		for j := range i + 1 {
			assert.Equal(t, j > i-3, handled(t, m, list[j].ID), "payment %d after %d", j, i)
		}
	}
}

// TestMemoryReview: records without an id or an amount, or not COMPLETE, never reach the handler.
func TestMemoryReview(t *testing.T) {
	t.Parallel()
	zero, negative, noID, progress := newPayment(), newPayment(), newPayment(), newPayment()
	zero.PaidAmount = payments.Amount{}
	negative.PaidAmount = payments.NewAmount(-1)
	noID.ID = uuid.Nil
	progress.Status = payments.StatusProgress
	type review struct {
		id     uuid.UUID
		reason error
	}
	var reviews []review
	g := newGranter()
	m := newMemory(t, g.grant, &webhook.MemoryOptions{
		OnReview: func(p payments.Payment, reason error) { reviews = append(reviews, review{p.ID, reason}) },
	})
	for range 2 {
		require.NoError(t, m.Accept(t.Context(), zero))
		require.NoError(t, m.Accept(t.Context(), negative))
		require.NoError(t, m.Accept(t.Context(), noID))
		require.ErrorIs(t, m.Accept(t.Context(), progress), payments.ErrNotComplete)
	}
	assert.Equal(t, []review{
		{zero.ID, webhook.ErrNoMoney}, {negative.ID, webhook.ErrNoMoney}, {uuid.Nil, webhook.ErrNoID},
		{uuid.Nil, webhook.ErrNoID}, // another payment, for all that is known
	}, reviews)
	assert.Empty(t, g.grants)
	assert.False(t, handled(t, m, zero.ID), "a later record may have an amount")
	assert.False(t, handled(t, m, uuid.Nil))
	assert.False(t, handled(t, m, progress.ID), "it may complete yet")

	progress.Status = payments.StatusComplete
	require.NoError(t, m.Accept(t.Context(), progress))
	assert.Equal(t, 1, g.count(progress.ID))
}

// TestMemoryGrantsAfterReview: a later record with an amount is granted after a review, once; a
// record without an amount is ignored after the grant.
func TestMemoryGrantsAfterReview(t *testing.T) {
	t.Parallel()
	p := newPayment()
	zero := p
	zero.PaidAmount = payments.Amount{}
	reviews := 0
	g := newGranter()
	m := newMemory(t, g.grant, &webhook.MemoryOptions{OnReview: func(payments.Payment, error) { reviews++ }})
	for _, next := range []payments.Payment{zero, p, p, zero} {
		require.NoError(t, m.Accept(t.Context(), next))
	}
	assert.Equal(t, 1, g.count(p.ID))
	assert.Equal(t, 1, reviews)
}

// TestMemoryReviewedThenGrantedIsOneID: an id that was reviewed and then granted takes one place.
func TestMemoryReviewedThenGrantedIsOneID(t *testing.T) {
	t.Parallel()
	p, q, r := newPayment(), newPayment(), newPayment()
	zero := p
	zero.PaidAmount = payments.Amount{}
	m := newMemory(t, newGranter().grant, &webhook.MemoryOptions{Size: 2, OnReview: func(payments.Payment, error) {}})
	for _, next := range []payments.Payment{zero, p, q} {
		require.NoError(t, m.Accept(t.Context(), next))
	}
	assert.True(t, handled(t, m, p.ID))
	assert.True(t, handled(t, m, q.ID))
	require.NoError(t, m.Accept(t.Context(), r))
	assert.False(t, handled(t, m, p.ID))
	assert.True(t, handled(t, m, q.ID))
}

// TestMemoryGrantWaitsForReview: a record that waits for a review of its id is granted afterwards.
func TestMemoryGrantWaitsForReview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPayment()
		zero := p
		zero.PaidAmount = payments.Amount{}
		gate := make(chan struct{})
		g := newGranter()
		m := newMemory(t, g.grant, &webhook.MemoryOptions{OnReview: func(payments.Payment, error) { <-gate }})
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, m.Accept(t.Context(), zero)) })
		synctest.Wait()
		all.Go(func() { assert.NoError(t, m.Accept(t.Context(), p)) })
		synctest.Wait()
		close(gate)
		all.Wait()
		assert.Equal(t, 1, g.count(p.ID))
	})
}

func TestMemoryReviewPanics(t *testing.T) {
	t.Parallel()
	zero, noID := newPayment(), newPayment()
	zero.PaidAmount = payments.Amount{}
	noID.ID = uuid.Nil
	m := newMemory(t, newGranter().grant, &webhook.MemoryOptions{OnReview: func(payments.Payment, error) { panic(errTest) }})
	require.ErrorIs(t, m.Accept(t.Context(), zero), errTest)
	require.ErrorIs(t, m.Accept(t.Context(), noID), errTest)
	assert.False(t, handled(t, m, zero.ID))
}

// TestMemoryReviewIsNeverSilent: not parallel, it replaces the default logger.
func TestMemoryReviewIsNeverSilent(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	zero := newPayment()
	zero.PaidAmount = payments.Amount{}
	require.NoError(t, newMemory(t, newGranter().grant, nil).Accept(t.Context(), zero))
	for _, part := range []string{"level=WARN", zero.ID.String(), "identifier=order-1", "paid_amount=0", "amount is not above 0"} {
		assert.Contains(t, out.String(), part)
	}
}

func TestNewMemoryValidation(t *testing.T) {
	t.Parallel()
	_, err := webhook.NewMemory(nil, nil)
	require.ErrorContains(t, err, "handler: is required")
	_, err = webhook.NewMemory(newGranter().grant, &webhook.MemoryOptions{Size: -1})
	require.ErrorContains(t, err, "MemoryOptions.Size: -1 is negative")
}
