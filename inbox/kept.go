package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// kept holds confirmed records that could not be stored. A confirm completes the payment, and the
// service does not name it again: after a second of downtime the record must not wait for the next
// reconciliation. Run, and any caller that finds the store working again, offer these records again.
// See DESIGN I-39.
type kept struct {
	mu      sync.Mutex
	records map[keptKey]op
	order   []keptKey // of arrival
	bytes   int
	closed  bool
}

type keptKey struct{ id, body string }

// Nothing is confirmed while the store is known to be down, so there are about as many records as
// confirms were in progress when it failed.
const (
	maxKept      = 10_000
	maxKeptBytes = 32 << 20
)

// add reports whether there was room.
func (k *kept) add(o op) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keptKey{o.ID, o.Body}
	if _, known := k.records[key]; known {
		return true
	}
	if k.closed || len(k.records) >= maxKept || k.bytes+len(o.Body) > maxKeptBytes {
		return false
	}
	if k.records == nil {
		k.records = make(map[keptKey]op)
	}
	k.records[key] = o
	k.order = append(k.order, key)
	k.bytes += len(o.Body)
	return true
}

func (k *kept) remove(o op) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keptKey{o.ID, o.Body}
	if _, known := k.records[key]; known {
		at := slices.Index(k.order, key)
		delete(k.records, key)
		k.order = slices.Delete(k.order, at, at+1)
		k.bytes -= len(o.Body)
	}
}

// some returns up to limit records in order of arrival. With end, add rejects records from now on.
func (k *kept) some(limit int, end bool) []op {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = k.closed || end
	ops := make([]op, 0, min(limit, len(k.order)))
	for _, key := range k.order[:min(limit, len(k.order))] {
		ops = append(ops, k.records[key])
	}
	return ops
}

// unstoredError is the error of a confirmed payment that could not be stored.
type unstoredError struct {
	id   string
	next string
	err  error
}

func (e *unstoredError) Error() string {
	return fmt.Sprintf("inbox: payment %s is confirmed and not stored; %s: %v", e.id, e.next, e.err)
}

func (e *unstoredError) Unwrap() error { return e.err }

// keep keeps a confirmed record that could not be stored, and returns the error to report.
func (b *intake) keep(o op, err error) error {
	unstored := &unstoredError{id: o.ID, next: "it is kept in memory and stored as soon as the database is back", err: err}
	switch {
	case refusedData(err):
		unstored.next = "the database refuses its record: fix the cause, then call Accept or Reconcile"
	case !b.kept.add(o):
		unstored.next = "there is no room for it in memory: call Accept or Reconcile when the database is back"
	}
	return unstored
}

// offerKept stores the kept records, a group at a time, until none is left or one cannot be stored.
func (b *intake) offerKept(ctx context.Context) error {
	b.offering.Lock() // two at once would be harmless but leave repeats among the receipts
	defer b.offering.Unlock()
	stored := 0
	for ctx.Err() == nil {
		ops := b.kept.some(groupMax, false)
		if len(ops) == 0 {
			break
		}
		if err := b.offerAll(ctx, ops); err != nil {
			return err
		}
		stored += len(ops)
	}
	if stored > 0 {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: confirmed payments that had been kept in memory are stored", slog.Int("payments", stored))
	}
	return ctx.Err()
}

// offerAll offers all records at once, but different records of one payment in their order.
func (b *intake) offerAll(ctx context.Context, ops []op) error {
	ofPayment := make(map[string][]op, len(ops))
	for _, o := range ops {
		ofPayment[o.ID] = append(ofPayment[o.ID], o)
	}
	errs := make(chan error, len(ofPayment))
	for _, records := range ofPayment {
		go func() { errs <- b.offerEach(ctx, records) }()
	}
	var first error // usually all have the same cause
	for range ofPayment {
		first = cmp.Or(first, <-errs)
	}
	return first
}

func (b *intake) offerEach(ctx context.Context, ops []op) error {
	for _, o := range ops {
		if err := b.offer(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (b *intake) offer(ctx context.Context, o op) error {
	err := b.put(ctx, o)
	if err != nil && !refusedData(err) {
		return err
	}
	b.kept.remove(o)
	if err != nil { // the database will never accept it
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: a confirmed payment was not stored",
			slog.String("payment_id", o.ID), slog.Any("error", b.keep(o, err)))
		return nil
	}
	b.rememberHandled(o)
	return nil
}

// mayConfirm returns an error while the store is known to be down: a confirm would complete a payment
// that cannot be stored. It probes the store itself, so that webhooks work again even if nothing else
// uses the store.
func (b *intake) mayConfirm(ctx context.Context) error {
	if !b.failing.Load() {
		return b.store.room(opRecord)
	}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	if err := b.probing.do(ctx, struct{}{}); err != nil {
		return fmt.Errorf("inbox: the store is down: %w", err)
	}
	return nil
}

// probeWait is how long a caller waits for a probe: the service re-sends the webhook.
const probeWait = time.Second

// probe stores a probe, once for all callers, and then the kept records.
func (b *intake) probe([]struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	if err := b.put(ctx, op{Kind: opProbe, ID: "probe"}); err != nil {
		return err
	}
	return b.offerKept(ctx)
}

// outageStep ends an outage: it stores the kept records and requests a reconciliation for payments that
// may have been confirmed without a trace. The users of the store log that it is down.
func (b *intake) outageStep(ctx context.Context) (more bool, err error) {
	if err := b.mayConfirm(ctx); err != nil {
		return false, nil //nolint:nilerr // see above
	}
	if err := b.offerKept(ctx); err != nil {
		return false, nil //nolint:nilerr // see above
	}
	if !b.failing.Load() && b.outage.Swap(false) {
		b.wakeReconcile()
	}
	return false, nil
}

// ErrUnstored is wrapped by Close's error if payments were confirmed while the store was down and it is
// still down. The ledger has the ids of those that a webhook or a reconciliation confirmed: the next
// start confirms them again.
var ErrUnstored = errors.New("inbox: confirmed payments are not stored")

// closeKept tries once more to store the kept records and logs the ids of the others: the ledger lacks
// nothing else.
func (b *intake) closeKept() error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	cause := cmp.Or(b.offerKept(ctx), ErrClosed)
	left := b.kept.some(maxKept, true)
	for _, o := range left {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: a confirmed payment is not stored; the next start asks the service for it again",
			slog.String("payment_id", o.ID), slog.Any("error", cause))
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %d of them, payment %s among them; the log names all, and the next start asks the service for them again: %w", ErrUnstored, len(left), left[0].ID, cause)
	}
	return nil
}
