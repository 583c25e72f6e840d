package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// desk has the payments in work: one job an id, and not more than max.
type desk struct {
	max  int
	mu   sync.Mutex
	jobs map[uuid.UUID]*job
}

// job is the work on one id. answer may be read once done is closed.
type job struct {
	done   chan struct{}
	answer answer
	asking atomic.Bool // the service is asked, or the Sink is told of its no
}

// lateStatus answers a delivery whose budget ends before the work does.
func (j *job) lateStatus() int {
	if j.asking.Load() {
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

var errExited = errors.New("webhook: Client or Sink ended its goroutine (runtime.Goexit)")

// join returns the job on id, starting work in a goroutine if there is none; first
// reports whether it did. The job is nil if max others are under way.
func (d *desk) join(id uuid.UUID, work func(*job) answer) (j *job, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.jobs[id]; j != nil {
		return j, false
	}
	if len(d.jobs) >= d.max {
		return nil, false
	}
	j = &job{
		done:   make(chan struct{}),
		answer: answer{http.StatusServiceUnavailable, OutcomeSinkFailed, errExited},
	}
	d.jobs[id] = j
	go func() {
		defer d.finish(id, j)
		j.answer = work(j)
	}()
	return j, true
}

func (d *desk) finish(id uuid.UUID, j *job) {
	d.mu.Lock()
	delete(d.jobs, id)
	d.mu.Unlock()
	close(j.done)
}

// any returns a job under way, or nil.
func (d *desk) any() *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, j := range d.jobs {
		return j
	}
	return nil
}

// Wait returns nil once no payment is in work, or the error of ctx. Call it after
// http.Server.Shutdown: a delivery that was answered at the budget may still be
// under way to the Sink.
func (h *Handler) Wait(ctx context.Context) error {
	for j := h.desk.any(); j != nil; j = h.desk.any() {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
