package mockserver

import (
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

// timers hold what the clock brings: webhook attempts, their timeouts, and the expiry of
// payments. They are guarded by Server.mu.
type timers struct {
	schedule.Queue
	mu     *sync.Mutex // Server.mu, which tick takes
	clock  *clock
	real   *time.Timer // nil before the first use, and for a stopped clock
	closed bool        // nothing fires any more
}

// fire takes a timer out and lets it happen.
func (t *timers) fire(timer *schedule.Timer) {
	t.Remove(timer)
	timer.Fire()
}

// arm sets the one timer of the real clock to the earliest of these timers. A stopped
// clock has none: only Advance and JumpToNextAttempt fire its timers.
func (t *timers) arm() {
	if t.clock.stopped || t.closed {
		return
	}
	first := t.First()
	switch {
	case first == nil && t.real != nil:
		t.real.Stop()
	case first == nil:
	case t.real == nil:
		t.real = time.AfterFunc(t.clock.until(first.At), t.tick)
	default:
		t.real.Reset(t.clock.until(first.At))
	}
}

// tick fires what is due.
func (t *timers) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for first := t.First(); !t.closed && first != nil && !first.At.After(t.clock.now()); first = t.First() {
		t.fire(first)
	}
	t.arm()
}

func (t *timers) close() {
	t.closed = true
	if t.real != nil {
		t.real.Stop()
	}
}
