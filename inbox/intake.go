package inbox

import (
	"context"
	"errors"
	"fmt"
)

// intake is where ops queue up for the store: a group commit for each of its lanes. What
// is about one payment takes one lane, and so stays in its order.
type intake []*group[op]

func newIntake(b *Inbox) intake {
	in := make(intake, b.store.lanes())
	for lane := range in {
		in[lane] = newGroup(groupMax, func(ops []op) error { return b.commit(lane, ops) })
	}
	return in
}

// lane of an id is that of its last character: ids are random.
func (in intake) lane(id string) *group[op] { return in[int(id[len(id)-1])%len(in)] }

func (in intake) close() {
	for _, lane := range in {
		lane.close()
	}
}

// put makes an op durable, together with those of others.
func (b *Inbox) put(ctx context.Context, o op) error {
	if err := b.store.room(o.Kind); err != nil {
		return err
	}
	return b.intake.lane(o.ID).do(ctx, o)
}

// commit makes a group of ops durable. It is not tied to any one caller's context.
func (b *Inbox) commit(lane int, ops []op) (err error) {
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

func (b *Inbox) noteStore(works bool) {
	if !works {
		b.outage.Store(true) // before failing, which ends it
	}
	b.failing.Store(!works)
}

// commitEach keeps what the database refuses in one op from failing its whole group.
func (b *Inbox) commitEach(ctx context.Context, lane int, ops []op) error {
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

func (b *Inbox) notStored(err error) error {
	if b.cfg.SQLite != nil {
		return fmt.Errorf("inbox: not stored; see whether the disk is full or the ledger's files are read-only: %w", err)
	}
	return fmt.Errorf("inbox: not stored: %w", err)
}
