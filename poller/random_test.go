package poller_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// TestNothingIsLost: every payment that was sent is handed over exactly once, or is in the error
// of Run, with services and Sinks that fail at random and stops at random.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { randomRun(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func randomRun(t *testing.T, random *rand.Rand) {
	script, sent, ambiguous := randomScript(random, 40)
	src, box, seen := newSource(t, script...), newSink(t), &events{}
	chance := random.Float64()
	ignores := random.IntN(2) == 0
	box.during = func(ctx context.Context, _ payments.Payment) error {
		takes := time.Duration(random.Int64N(int64(20 * time.Second)))
		if random.IntN(3) > 0 {
			takes = 0
		}
		select {
		case <-time.After(takes):
		case <-doneUnless(ctx, ignores):
			return ctx.Err()
		}
		switch {
		case random.Float64() >= chance:
			return nil
		case random.IntN(2) == 0:
			return errTest
		}
		return fmt.Errorf("odd: %w", payments.ErrNoProcessedPayment)
	}
	p := newPoller(t, poller.Config{
		Client: src, Sink: box, OnEvent: seen.add,
		MaxPending: 1 + random.IntN(8), AcceptTimeout: 10 * time.Second, ShutdownTimeout: 15 * time.Second,
	})
	_, err := runFor(t, p, time.Duration(random.Int64N(int64(20*time.Minute))))
	received := sent[:p.Stats().Received]
	got := box.ids()
	var unhanded *poller.UnhandedError
	if errors.As(err, &unhanded) {
		got = append(got, ids(unhanded.Payments)...)
	} else {
		require.NoError(t, err)
	}
	assert.ElementsMatch(t, ids(received), got, "received and accounted for")
	unsent := 0
	src.mu.Lock()
	for _, a := range src.script {
		if a.err == nil {
			unsent++
		}
		if errors.Is(a.err, payments.ErrAmbiguous) {
			ambiguous--
		}
	}
	src.mu.Unlock()
	assert.Len(t, received, len(sent)-unsent, "sent and received")
	assert.Len(t, seen.of(poller.KindAmbiguous), ambiguous)
	assert.EqualValues(t, ambiguous, p.Stats().Ambiguous)
	assert.EqualValues(t, len(box.ids()), p.Stats().HandedOver)
}

// doneUnless is ctx.Done, or never.
func doneUnless(ctx context.Context, ignores bool) <-chan struct{} {
	if ignores {
		return nil
	}
	return ctx.Done()
}

func randomScript(random *rand.Rand, n int) (script []answer, sent []payments.Payment, ambiguous int) {
	for i := range n {
		a := answer{}
		if random.IntN(4) == 0 {
			a.takes = time.Duration(random.Int64N(int64(time.Minute)))
		}
		switch random.IntN(8) {
		case 0:
			a.err = payments.ErrNoProcessedPayment
		case 1:
			a.err = errTest
		case 2:
			a.err = fmt.Errorf("poll %d: %w", i, payments.ErrAmbiguous)
			ambiguous++
		default:
			a.p = newPayment()
			a.p.ID = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, i))
			sent = append(sent, a.p)
		}
		script = append(script, a)
	}
	return script, sent, ambiguous
}
