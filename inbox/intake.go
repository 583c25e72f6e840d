package inbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// intake makes verified payments, and everything else that the channels report, durable.
type intake struct {
	*core
	lanes  []*group[op]
	states stateCache

	failing  atomic.Bool // the last group was not stored
	outage   atomic.Bool // a group was not stored, and no reconciliation was requested since
	kept     kept        // payments that were confirmed during an outage
	offering sync.Mutex
	probing  *group[struct{}]
}

func newIntake(c *core) *intake {
	b := &intake{core: c, lanes: make([]*group[op], c.store.lanes())}
	for lane := range b.lanes {
		b.lanes[lane] = newGroup(groupMax, func(ops []op) error { return b.commit(lane, ops) })
	}
	b.probing = newGroup(groupMax, b.probe)
	return b
}

// lane is a group commit of the store. All ops of one payment go through one lane, so they
// stay in order; the lane follows from the last character of the id, because ids are random.
func (b *intake) lane(id string) *group[op] { return b.lanes[int(id[len(id)-1])%len(b.lanes)] }

// close stores what is kept and waits for the ops under way. Its error is ErrUnstored.
func (b *intake) close() error {
	b.probing.close()
	unstored := b.closeKept()
	for _, lane := range b.lanes {
		lane.close()
	}
	return unstored
}

// accept takes custody of a verified payment: it returns nil once the record is durable. It may
// be called any number of times for one payment, by all channels: the payment is handed over
// once.
//
// A record without an id cannot be told apart from another one and goes to review. One that
// is not COMPLETE is rejected with payments.ErrNotComplete. Anything else that is wrong with a
// payment is found when it is handed over.
func (b *intake) accept(ctx context.Context, p payments.Payment, channel Channel) error {
	if p.Status != payments.StatusComplete {
		return fmt.Errorf("inbox: payment %s has status %q: %w", p.ID, p.Status, payments.ErrNotComplete)
	}
	o, err := recordOp(p, channel)
	if err != nil {
		return fmt.Errorf("inbox: payment %s cannot be encoded: %w", p.ID, err)
	}
	if p.ID == uuid.Nil {
		o.Kind, o.ID, o.Reason = opReview, "none-"+uuid.NewString(), ReasonNoID
	}
	state, _ := b.states.get(p.ID)
	o.owed = state == webhook.StateExpected
	if err := b.put(ctx, o); err != nil {
		if channel == ChannelPoll { // the poller keeps it
			return err
		}
		return b.keep(o, err)
	}
	b.kept.remove(o)
	b.rememberHandled(o)
	return nil
}

func (b *intake) rememberHandled(o op) {
	if id, err := uuid.Parse(o.ID); err == nil && o.Kind == opRecord {
		b.states.add(id, webhook.StateHandled)
	}
}

// put makes an op durable, in a group with others.
func (b *intake) put(ctx context.Context, o op) error {
	if err := b.store.room(o.Kind); err != nil {
		return err
	}
	return b.lane(o.ID).do(ctx, o)
}

// commit makes a group of ops durable. It does not depend on any one caller's context.
func (b *intake) commit(lane int, ops []op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("inbox: the store panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	err = b.cfg.hook.after(stepAccepted, b.store.accept(ctx, lane, ops))
	if err != nil && len(ops) > 1 && refusedData(err) {
		err = b.commitEach(ctx, lane, ops)
	}
	b.noteStore(err == nil || refusedData(err))
	if err == nil {
		b.wake()
		return nil
	}
	if _, some := errors.AsType[eachError](err); some {
		b.wake()
		return err
	}
	return b.notStored(err)
}

func (b *intake) noteStore(works bool) {
	if !works {
		b.outage.Store(true) // before failing, which ends it
	}
	b.failing.Store(!works)
}

// commitEach stores the ops one by one, so that an op that the database rejects does not fail its group.
func (b *intake) commitEach(ctx context.Context, lane int, ops []op) error {
	each := make(eachError, len(ops))
	for i := range ops {
		if ops[i].Kind == opNo {
			continue // it must not run twice; see postgresStore.refusals
		}
		if err := b.store.accept(ctx, lane, ops[i:i+1]); err != nil {
			each[i] = b.notStored(fmt.Errorf("%s of payment %s: %w", ops[i].Kind, ops[i].ID, err))
		}
	}
	return each
}

func (b *intake) notStored(err error) error {
	if b.cfg.SQLite != nil {
		return fmt.Errorf("inbox: not stored; see whether the disk is full or the ledger's files are read-only: %w", err)
	}
	return fmt.Errorf("inbox: not stored: %w", err)
}

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("inbox: it is closed")

// group is a group commit without a timer: while one batch commits, the next one gathers. A timer was
// measured to halve the rate at 8 callers and to gain nothing at 64. Its goroutine runs only while
// values wait. See DESIGN I-02.
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
