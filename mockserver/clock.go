package mockserver

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

// Clock chooses how time passes in a [Server]. The zero Clock is the real time:
// it runs by itself, and [Server.Advance] adds to it. A Clock is only a choice,
// so one value may be given to many servers: each keeps its own time.
type Clock struct {
	stopped bool
	start   time.Time
	factor  float64 // 0 for a clock that is not accelerated
}

// defaultStart is the start of a stopped clock that was given none.
var defaultStart = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// NewStoppedClock is a clock that shows start until [Server.Advance] or
// [Server.JumpToNextAttempt] moves it. Every timestamp and every webhook attempt
// is then exact to the nanosecond, however slow the machine is. The zero time
// means 2025-01-01T00:00:00Z.
func NewStoppedClock(start time.Time) Clock {
	if start.IsZero() {
		start = defaultStart
	}
	return Clock{stopped: true, start: start.Round(0).UTC()}
}

// maxFactor leaves at least an hour of real time for the 100 years that a clock may run.
const maxFactor = 100_000

// NewAcceleratedClock is a clock that shows start when [New] is called and runs factor
// times as fast as real time from there: with 3600 the 75 hours of interface §6.4 take
// 75 seconds. [Server.Advance] adds to it. The zero time means the real time of
// New. The factor is at least 1 and at most 100,000, or New refuses the Config.
//
// Everything that the server times runs that fast: timestamps, the webhook schedule, expiry.
// But a webhook receiver does not run faster: it has at least [Config.Patience] of
// real time to answer, however short the 10 s of interface §6.5 become.
func NewAcceleratedClock(start time.Time, factor float64) Clock {
	if factor == 0 {
		factor = math.NaN() // refused, so that it is not mistaken for the real time
	}
	return Clock{start: start.Round(0), factor: factor}
}

func (c Clock) check() error {
	if c.factor != 0 && !(c.factor >= 1 && c.factor <= maxFactor) {
		return errors.New("the factor of an accelerated clock must be from 1 to 100000")
	}
	return nil
}

// maxTravel bounds how far a clock can be moved in all, so that the sum of many
// moves cannot overflow.
const maxTravel = 100 * 365 * 24 * time.Hour

// clock is the time of one server. Reading it takes no lock.
type clock struct {
	Clock
	began time.Time    // accelerated only: the real time of start
	moved atomic.Int64 // nanoseconds, only ever growing
}

// begin starts the clock, before anybody reads it.
func (c *clock) begin(choice Clock) {
	c.Clock, c.began = choice, time.Now()
	if c.factor > 0 && c.start.IsZero() {
		c.start = c.began.Round(0)
	}
}

func (c *clock) now() time.Time {
	moved := time.Duration(c.moved.Load())
	switch {
	case c.stopped:
		return c.start.Add(moved)
	case c.factor > 0:
		// The product grows with the time that has passed, so the clock never runs back.
		ran := min(float64(time.Since(c.began))*c.factor, float64(maxTravel))
		return c.start.Add(moved + time.Duration(ran))
	}
	return time.Now().Add(moved)
}

// moveTo moves the clock forward to t; it never moves back.
func (c *clock) moveTo(t time.Time) {
	if d := t.Sub(c.now()); d > 0 {
		c.moved.Add(int64(d))
	}
}

// after is the time d from now, within maxTravel.
func (c *clock) after(d time.Duration) time.Time {
	return c.now().Add(max(0, min(d, maxTravel-time.Duration(c.moved.Load()))))
}

// until is the real time that passes until a clock that runs by itself shows t.
func (c *clock) until(t time.Time) time.Duration {
	d := max(0, t.Sub(c.now()))
	if c.factor > 0 {
		return time.Duration(math.Ceil(float64(d) / c.factor))
	}
	return d
}

// atLeast is the longer of d by this clock and patience in real time.
func (c *clock) atLeast(d, patience time.Duration) time.Duration {
	if c.factor > 0 {
		return max(d, time.Duration(min(float64(patience)*c.factor, float64(maxTravel))))
	}
	return d
}

// timers hold what the clock brings: webhook attempts, their timeouts, and the expiry of
// payments. They are guarded by Server.mu.
type timers struct {
	schedule.Queue
	mu     *sync.Mutex // Server.mu, which tick takes
	clock  *clock
	real   *time.Timer // nil before the first use, and for a stopped clock
	closed bool        // nothing fires any more
}

// fire takes a timer out of the queue and runs it.
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
