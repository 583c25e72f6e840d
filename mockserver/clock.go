package mockserver

import (
	"sync/atomic"
	"time"
)

// Clock chooses how time passes in a [Server]. The zero Clock is the real time:
// it runs by itself, and [Server.Advance] adds to it. A Clock is only a choice,
// so one value may be given to many servers: each keeps its own time.
type Clock struct {
	stopped bool
	start   time.Time
}

// defaultStart is the start of a stopped clock whose user does not care.
var defaultStart = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// NewStoppedClock is a clock that shows start until [Server.Advance] or
// [Server.JumpToNextAttempt] moves it. Every timestamp and every webhook attempt
// is then exact to the nanosecond, however slow the machine is. The zero time
// stands for 2025-01-01T00:00:00Z.
func NewStoppedClock(start time.Time) Clock {
	if start.IsZero() {
		start = defaultStart
	}
	return Clock{stopped: true, start: start.Round(0).UTC()}
}

// maxTravel bounds how far a clock can be moved in all, so that the sum of many
// moves cannot overflow.
const maxTravel = 100 * 365 * 24 * time.Hour

// clock is the time of one server. Reading it takes no lock.
type clock struct {
	Clock
	moved atomic.Int64 // nanoseconds, only ever growing
}

func (c *clock) now() time.Time {
	moved := time.Duration(c.moved.Load())
	if c.stopped {
		return c.start.Add(moved)
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
