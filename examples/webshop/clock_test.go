package main

import (
	"sync"
	"time"
)

// clock is the real time, or one at which it was stopped, and what the test adds to it.
type clock struct {
	mu      sync.Mutex
	stopped time.Time
	added   time.Duration
}

func newClock() *clock { return &clock{} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped.Add(c.added)
	}
	return time.Now().Add(c.added)
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = time.Now()
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added += d
}
