package inbox

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("inbox: it is closed")

// group is a group commit without a timer: while one batch commits, the next one gathers. A timer was
// measured to halve the rate at 8 callers and to gain nothing at 64. Its goroutine runs only while
// values wait.
type group[T any] struct {
	commit func([]T) error
	max    int

	mu      sync.Mutex
	waiting []*entry[T]
	running bool
	closed  bool
	idle    sync.Cond
}

// eachError is the error of a commit whose values fared differently: one error per value, nil for the
// committed ones.
type eachError []error

func (e eachError) Error() string   { return errors.Join(e...).Error() }
func (e eachError) Unwrap() []error { return e }

type entry[T any] struct {
	value T
	done  chan error
}

func newGroup[T any](limit int, commit func([]T) error) *group[T] {
	g := &group[T]{commit: commit, max: limit}
	g.idle.L = &g.mu
	return g
}

// do returns when value is committed or has failed. If ctx ends before value is part of a commit, value
// is withdrawn; if ctx ends later, the error is ctx's and value may still be committed.
func (g *group[T]) do(ctx context.Context, value T) error {
	e := &entry[T]{value: value, done: make(chan error, 1)}
	if !g.enter(e) {
		return ErrClosed
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		g.withdraw(e)
	}
	select {
	case err := <-e.done: // both at the same moment: the result counts
		return err
	default:
		return ctx.Err()
	}
}

func (g *group[T]) enter(e *entry[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.waiting = append(g.waiting, e)
	if !g.running {
		g.running = true
		go g.run()
	}
	return true
}

func (g *group[T]) withdraw(e *entry[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, e); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// run commits batch after batch until nothing waits.
func (g *group[T]) run() {
	for {
		// Runnable goroutines may be about to join: under load this makes batches larger, and
		// otherwise it costs nothing.
		runtime.Gosched()
		batch := g.take()
		if len(batch) == 0 {
			return
		}
		values := make([]T, len(batch))
		for i, e := range batch {
			values[i] = e.value
		}
		err := g.commit(values)
		var each eachError
		differ := errors.As(err, &each)
		for i, e := range batch {
			if differ {
				err = each[i]
			}
			e.done <- err
		}
	}
}

// take returns the next batch; an empty one ends run.
func (g *group[T]) take() []*entry[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), g.max)
	batch := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	if n == 0 {
		g.running = false
		g.idle.Broadcast()
	}
	return batch
}

// close rejects new values and waits for the others.
func (g *group[T]) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.running {
		g.idle.Wait()
	}
}
