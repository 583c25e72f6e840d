package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// intake makes verified payments, and whatever else the channels report, durable.
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
		return fmt.Errorf("inbox: payment %s cannot be written down: %w", p.ID, err)
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

// put makes an op durable, together with those of others.
func (b *intake) put(ctx context.Context, o op) error {
	if err := b.store.room(o.Kind); err != nil {
		return err
	}
	return b.lane(o.ID).do(ctx, o)
}

// commit makes a group of ops durable. It is not tied to any one caller's context.
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

// commitEach keeps what the database refuses in one op from failing its whole group.
func (b *intake) commitEach(ctx context.Context, lane int, ops []op) error {
	each := make(eachError, len(ops))
	for i := range ops {
		if ops[i].Kind == opNo {
			continue // it has been tried, see postgresStore.refusals
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
