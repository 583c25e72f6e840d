package inbox

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("inbox: it is closed")

// group is a group commit without a goroutine and without a timer: whoever finds
// nobody committing takes all that waits, commits it, and hands the lead to the first
// of those who came meanwhile. A timer was measured to cost half the rate at 8
// callers and to gain nothing at 64.
type group[T any] struct {
	commit func([]T) error
	max    int

	mu      sync.Mutex
	waiting []*entry[T]
	leading bool
	closed  bool
	idle    sync.Cond
}

// eachError is a commit's error if it is not the same for all: one for each value, nil
// for those that are committed.
type eachError []error

func (e eachError) Error() string   { return errors.Join(e...).Error() }
func (e eachError) Unwrap() []error { return e }

type entry[T any] struct {
	value T
	done  chan error    // the result
	lead  chan struct{} // closed: you are the next leader
}

func newGroup[T any](limit int, commit func([]T) error) *group[T] {
	g := &group[T]{commit: commit, max: limit}
	g.idle.L = &g.mu
	return g
}

// do returns after value is committed, or cannot be. If ctx ends before value is
// taken into a commit it is withdrawn; if it ends later the error is ctx's, and the
// value may be committed all the same.
func (g *group[T]) do(ctx context.Context, value T) error {
	e := &entry[T]{value: value, done: make(chan error, 1), lead: make(chan struct{})}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	g.waiting = append(g.waiting, e)
	leader := !g.leading
	g.leading = true
	g.mu.Unlock()
	if leader {
		g.round()
	}
	select {
	case err := <-e.done:
		return err
	case <-e.lead:
		g.round()
		return <-e.done
	case <-ctx.Done():
		return g.withdraw(ctx, e)
	}
}

// withdraw takes e out if nobody has taken it, and passes the lead on if it was e's.
func (g *group[T]) withdraw(ctx context.Context, e *entry[T]) error {
	g.mu.Lock()
	for i, other := range g.waiting {
		if other == e {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			break
		}
	}
	g.mu.Unlock()
	select {
	case <-e.lead:
		g.pass()
	default:
	}
	select {
	case err := <-e.done:
		return err
	default:
		return ctx.Err()
	}
}

// round commits one batch. Its caller leads; afterwards the lead is passed on.
func (g *group[T]) round() {
	g.mu.Lock()
	n := min(len(g.waiting), g.max)
	batch := g.waiting[:n:n]
	g.waiting = append([]*entry[T](nil), g.waiting[n:]...)
	g.mu.Unlock()
	if n > 0 {
		values := make([]T, n)
		for i, e := range batch {
			values[i] = e.value
		}
		err := g.commit(values)
		each, differ := err.(eachError)
		for i, e := range batch {
			if differ {
				err = each[i]
			}
			e.done <- err
		}
	}
	g.pass()
}

// pass makes the first who waits the leader.
func (g *group[T]) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.leading = false
		g.idle.Broadcast()
		return
	}
	close(g.waiting[0].lead)
}

// close refuses what comes and waits for what is under way.
func (g *group[T]) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.leading {
		g.idle.Wait()
	}
}
