package riverbench_test

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Stopping(m).Run()) }

func record() payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(10000), VerifiedAt: time.Unix(1_700_000_000, 0).UTC(),
		Metadata: payments.Metadata{Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(10000), Count: 1}}},
	}
}

// watch times how long n payments take, from the first one's start on.
type watch struct {
	once  sync.Once
	began time.Time
	left  atomic.Int64
	hit   chan struct{}
}

func newWatch(n int) *watch {
	w := &watch{hit: make(chan struct{})}
	w.left.Store(int64(n))
	return w
}

// started is called by a worker when it begins, ended when it has no more to do but commit.
func (w *watch) started() { w.once.Do(func() { w.began = time.Now() }) }

func (w *watch) ended() {
	if w.left.Add(-1) == 0 {
		close(w.hit)
	}
}

// sample waits until the last one has ended and no commit is under way.
func (w *watch) sample(t *testing.T, n int, open func() int) paired.Sample {
	t.Helper()
	select {
	case <-w.hit:
	case <-time.After(2 * time.Minute):
		require.FailNow(t, "the workers do not get on", "%d are left", w.left.Load())
	}
	for open() > 0 {
		runtime.Gosched()
	}
	return paired.Sample{PerSecond: float64(n) / time.Since(w.began).Seconds()}
}
