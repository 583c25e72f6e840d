package mockserver

import (
	"context"
	"sync"
)

// changes let pages wait until something has changed. Noting a change never blocks, and
// costs one addition while nobody waits.
type changes struct {
	mu         sync.Mutex
	generation uint64
	wake       chan struct{} // made by the first who waits, closed by the next change
	streams    int           // pages that listen
	closed     bool
}

// note wakes everyone who waits.
func (c *changes) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteLocked()
}

func (c *changes) noteLocked() {
	c.generation++
	if c.wake != nil {
		close(c.wake)
		c.wake = nil
	}
}

// close ends all waits.
func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.noteLocked()
}

// await waits until the generation differs from seen, and returns it: begin with 0, read
// what there is to show, and call again with the result. It never misses a change between
// two calls; it may report several changes as one. It is false when ctx has ended or the
// server is closed.
func (c *changes) await(ctx context.Context, seen uint64) (generation uint64, ok bool) {
	for {
		c.mu.Lock()
		generation, closed := c.generation, c.closed
		if c.wake == nil {
			c.wake = make(chan struct{})
		}
		wake := c.wake
		c.mu.Unlock()
		if closed || generation != seen {
			return generation, !closed
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return seen, false
		}
	}
}
