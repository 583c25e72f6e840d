package inboxbench_test

import (
	"context"
	"database/sql"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/payments"
)

// empty is a handler that grants nothing, and counts.
type empty struct {
	left atomic.Int64
	hit  chan struct{} // left has come to 0
}

func newEmpty() *empty { return &empty{hit: make(chan struct{}, 1)} }

func (e *empty) handle(context.Context, *sql.Tx, payments.Payment) error {
	if e.left.Add(-1) == 0 {
		e.hit <- struct{}{}
	}
	return nil
}

// await waits until n payments since expect are done: their handlers have run, and
// none of their commits is under way.
func (e *empty) await(t *testing.T, db database) {
	t.Helper()
	select {
	case <-e.hit:
	case <-time.After(5 * time.Minute):
		require.FailNow(t, "the handlers do not get on", "%d payments are left", e.left.Load())
	}
	for ready(t, db) > 0 && !t.Failed() {
		runtime.Gosched()
	}
}

func (e *empty) expect(n int) { e.left.Store(int64(n)) }

// ready counts the payments that wait for their handler or have it running.
func ready(t *testing.T, db database) int {
	t.Helper()
	var n int
	require.NoError(t, db.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM depositpay_payments WHERE stage = 2`).Scan(&n))
	return n
}

// running runs the inbox until stop is called.
func running(t *testing.T, box *inbox.Inbox) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- box.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		require.NoError(t, <-done)
	}
}

// drain hands over n payments that were accepted before.
func (e *empty) drain(t *testing.T, db database, box *inbox.Inbox, n int) paired.Sample {
	t.Helper()
	e.expect(n)
	began := time.Now()
	stop := running(t, box)
	e.await(t, db)
	took := time.Since(began)
	stop()
	return paired.Sample{PerSecond: float64(n) / took.Seconds()}
}
