package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// inflight has the calls under way: one for each payment id, at most max.
type inflight struct {
	max   int
	mu    sync.Mutex
	calls map[uuid.UUID]*call
}

// call is the work on one id. answer may be read once done is closed.
type call struct {
	done       chan struct{}
	answer     answer
	confirming atomic.Bool // the service is asked, or the Ledger told that it rejected the id
}

// lateStatus is the status for a delivery whose budget ends before the work does.
func (c *call) lateStatus() int {
	if c.confirming.Load() {
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

var errExited = errors.New("webhook: the Client or the Sink ended its goroutine (runtime.Goexit)")

// do returns the call for id. If there is none it starts work in a goroutine, and started
// is true. It returns nil if max other calls are under way.
func (f *inflight) do(id uuid.UUID, work func(*call) answer) (c *call, started bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.calls[id]; c != nil {
		return c, false
	}
	if len(f.calls) >= f.max {
		return nil, false
	}
	c = &call{
		done:   make(chan struct{}),
		answer: answer{http.StatusServiceUnavailable, OutcomeSinkFailed, errExited},
	}
	f.calls[id] = c
	go func() {
		defer f.finish(id, c)
		c.answer = work(c)
	}()
	return c, true
}

func (f *inflight) finish(id uuid.UUID, c *call) {
	f.mu.Lock()
	delete(f.calls, id)
	f.mu.Unlock()
	close(c.done)
}

// any returns a call under way, or nil.
func (f *inflight) any() *call {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		return c
	}
	return nil
}

// Wait returns nil once no work is under way, or the error of ctx. Call it after
// http.Server.Shutdown: a delivery that was answered at the budget may not have reached the
// Ledger yet.
func (h *Handler) Wait(ctx context.Context) error {
	for c := h.inflight.any(); c != nil; c = h.inflight.any() {
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
