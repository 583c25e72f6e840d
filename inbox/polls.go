package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// The poll journal. A poll is a destructive read without an acknowledgement. So a line that says "a
// poller is running" becomes durable before the first poll and stays open until the poller ends. An idle
// queue thus costs no sync, and a drain only those of the payments. The price: after an unclean end
// nobody knows whether a poll was in progress, so every unclean end is reported as a possible loss. A
// line for each poll would be exact, but cost a sync every 3 to 5 seconds in every idle shop.
// See DESIGN I-28.
//
// pollLedger is the inbox as a poller.Ledger.
type pollLedger struct {
	*intake
	mu        sync.Mutex
	open      map[string]*pollLine // by id: several pollers may share an inbox
	unwritten []unwrittenLoss      // possible losses that PollLost could not store

	recovered chan struct{} // closed when the responses that dead pollers left are stored
	recovery  sync.Once     // closes it
}

// unwrittenLoss is a possible loss that only this process knows of.
type unwrittenLoss struct {
	id  string
	err error // of the poll
}

// pollLine is an open line of this process.
type pollLine struct {
	id   string
	beat time.Time // of the last heartbeat
}

// pollRun is the journal of one run of a poller.
type pollRun struct {
	*pollLedger
	line *pollLine // guarded by mu; nil before the first poll
}

func newPollLedger(in *intake) *pollLedger {
	return &pollLedger{intake: in, open: make(map[string]*pollLine), recovered: make(chan struct{})}
}

// Begin returns the journal of a run. It has no line before the first poll.
func (b *pollLedger) Begin() poller.Journal { return &pollRun{pollLedger: b} }

// Accept takes custody of a payment that a poll returned; see intake.accept.
func (b *pollLedger) Accept(ctx context.Context, p payments.Payment) error {
	return b.accept(ctx, p, ChannelPoll)
}

const (
	sqlOpenPolls = `INSERT INTO {p}polls (poll_id, opened_at, beat_at) VALUES (?1, {now}, {now})`
	sqlClose     = `UPDATE {p}polls SET closed_at = {now}, outcome = ?2 WHERE poll_id = ?1 AND closed_at IS NULL`
	sqlLoss      = `INSERT INTO {p}polls (poll_id, opened_at, beat_at, outcome) VALUES (?1, {now}, {now}, ?2) ON CONFLICT (poll_id) DO NOTHING`
)

// BeforePoll opens a line of the journal, unless the run has one. An error means that the store
// cannot take a payment: the poll must not happen. With the context that it returns,
// payments.Client stores the response before it decodes it.
func (r *pollRun) BeforePoll(ctx context.Context) (context.Context, error) {
	id, err := r.openLine(ctx)
	if err != nil {
		return nil, err
	}
	return payments.WithJournal(ctx, func(ctx context.Context, raw []byte) error {
		return r.put(ctx, op{Kind: opRaw, ID: pollKey(id), Channel: int(ChannelPoll), Body: storable(string(raw))})
	}), nil
}

// openLine returns the id of the run's open line, and opens one if there is none.
func (r *pollRun) openLine(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeLosses(ctx); err != nil {
		return "", err
	}
	if err := r.canStore(ctx); err != nil {
		return "", err
	}
	if r.isOpen() {
		switch alive, err := r.pollAlive(ctx, r.line); {
		case err != nil:
			return "", fmt.Errorf("inbox: the poll journal: %w", err)
		case alive:
			return r.line.id, nil
		}
		delete(r.open, r.line.id)
	}
	line := &pollLine{id: uuid.NewString(), beat: time.Now()}
	if _, err := r.store.ledger().ExecContext(ctx, r.d.sql(sqlOpenPolls), line.id); err != nil {
		return "", fmt.Errorf("inbox: open the poll journal: %w", err)
	}
	r.line, r.open[line.id] = line, line
	return line.id, nil
}

// isOpen reports whether the run has a line that is not taken for dead. The caller holds mu.
func (r *pollRun) isOpen() bool { return r.line != nil && r.open[r.line.id] != nil }

func pollKey(id string) string { return "poll-" + id }

// unreadableKey derives a key from the response of a poll, so that a response found again after a crash
// is in review only once.
func unreadableKey(body string) string {
	hash := sha256.Sum256([]byte(body))
	return "raw-" + hex.EncodeToString(hash[:16])
}

// canStore returns an error if an acceptance would fail now. A full disk answers pings, so after a failed
// acceptance only a successful one counts: otherwise polls would go on taking payments that cannot be
// stored.
func (b *pollLedger) canStore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := b.mayConfirm(ctx); err != nil {
		return err
	}
	if err := b.store.reader().PingContext(ctx); err != nil {
		return fmt.Errorf("inbox: the store is down: %w", err)
	}
	return nil
}

// PollLost records a possible loss and starts a reconciliation. What arrived of the response is
// kept for review if it may hold a part of a record (see payments.Error.MayHoldRecord). If the
// database is away PollLost tries again until ctx ends, for at most 15 s; it tries once even if
// ctx has ended. If it fails, nothing is polled until the loss is stored, and Close does not
// close the journal before: nothing else tells of that payment.
func (b *pollLedger) PollLost(ctx context.Context, lost error) error {
	defer b.wakeReconcile()
	write, done := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer done()
	wait, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	id := uuid.NewString()
	err := b.noteLoss(write, id, lost)
	for failures := 0; err != nil && wait.Err() == nil; failures++ {
		pause(wait, backoff.Delay(failures, tick/4, 2*time.Second, backoff.Jitter()), nil)
		err = b.noteLoss(write, id, lost)
	}
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.unwritten = append(b.unwritten, unwrittenLoss{id, lost})
	}
	return err
}

// writeLosses stores what PollLost could not store. The caller holds mu.
func (b *pollLedger) writeLosses(ctx context.Context) error {
	for len(b.unwritten) > 0 {
		l := b.unwritten[0]
		if err := b.noteLoss(ctx, l.id, l.err); err != nil {
			return fmt.Errorf("inbox: a possible loss is not stored, nothing is polled until it is: %w", err)
		}
		b.unwritten = b.unwritten[1:]
		b.wakeReconcile()
	}
	return nil
}

// noteLoss is idempotent: an error may come after the commit. A loss whose text the database rejects is
// stored with a plain reason, since nothing is polled until the loss is stored.
func (b *pollLedger) noteLoss(ctx context.Context, id string, lost error) error {
	raw := ""
	if e, ok := errors.AsType[*payments.Error](lost); ok && e.MayHoldRecord() {
		raw = string(e.Raw)
	}
	reason := storable("ambiguous: " + reasonText(lost))
	if raw != "" {
		err := b.put(ctx, op{
			Kind: opReview, ID: unreadableKey(storable(raw)), Channel: int(ChannelPoll),
			Body: storable(raw), Reason: ReasonUnreadable,
		})
		switch {
		case refusedData(err):
			reason = fmt.Sprintf("ambiguous: the database refuses what the poll received (SQLSTATE %s)", sqlState(err))
		case err != nil:
			return err
		}
	}
	err := b.insertLoss(ctx, id, reason)
	if refusedData(err) {
		err = b.insertLoss(ctx, id, fmt.Sprintf("ambiguous: the database refuses the error's text (SQLSTATE %s)", sqlState(err)))
	}
	return err
}

func (b *pollLedger) insertLoss(ctx context.Context, id, reason string) error {
	_, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlLoss), id, reason)
	return err
}

// Close closes the line of the run, if it has one. It returns within 15 s, even if ctx has
// ended. If a possible loss cannot be stored the line stays open, and the next start reports it
// like a crash.
func (r *pollRun) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	write, done := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer done()
	if err := r.writeLosses(write); err != nil {
		return err
	}
	if !r.isOpen() {
		return nil
	}
	_, err := r.store.ledger().ExecContext(write, r.d.sql(sqlClose), r.line.id, "clean")
	if err == nil {
		delete(r.open, r.line.id)
	}
	return err
}
