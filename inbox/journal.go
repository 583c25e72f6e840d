package inbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/pollrun"
	"github.com/depositpay/depositpay-go/payments"
)

// The poll journal. A poll is a destructive read without an acknowledgement, so before
// the first one a line is durable that says "polls are going on", and it stays open
// until the poller ends. An idle queue therefore costs no sync at all, and a drain
// none besides those of the payments. The price: after an unclean end it is not known
// whether a poll was under way at that very moment, so every unclean end is reported
// as a possible loss. A line for each poll would tell more exactly, for a sync every
// 3 to 5 seconds on every idle shop.
type pollLines struct {
	mu    sync.Mutex
	ofRun map[string]*pollLine // by pollrun.ID: several pollers may share an inbox

	unwritten []unwrittenLoss // what PollLost could not store
}

// unwrittenLoss is a possible loss that only this process knows of.
type unwrittenLoss struct {
	id  string
	err error // of the poll
}

// pollLine is an open line of this process.
type pollLine struct {
	id   string
	beat time.Time // when it was last told to be alive
}

const (
	sqlOpenPolls = `INSERT INTO {p}polls (poll_id, opened_at, beat_at) VALUES (?1, {now}, {now})`
	sqlClose     = `UPDATE {p}polls SET closed_at = {now}, outcome = ?2 WHERE poll_id = ?1 AND closed_at IS NULL`
	sqlLosses    = `SELECT poll_id, beat_at, outcome FROM {p}polls WHERE closed_at IS NULL AND outcome <> '' ORDER BY beat_at`
	sqlLoss      = `INSERT INTO {p}polls (poll_id, opened_at, beat_at, outcome) VALUES (?1, {now}, {now}, ?2) ON CONFLICT (poll_id) DO NOTHING`
)

// BeforePoll is called by package poller before every destructive read; it satisfies
// poller.Journal. An error means that the store cannot take what the poll would
// return: the poll must not happen. The context that it returns makes payments.Client
// write down what it received before it reads it.
func (b *Inbox) BeforePoll(ctx context.Context) (context.Context, error) {
	id, err := b.openLine(ctx, pollrun.ID(ctx))
	if err != nil {
		return nil, err
	}
	return payments.WithJournal(ctx, func(ctx context.Context, raw []byte) error {
		return b.put(ctx, op{Kind: opRaw, ID: pollKey(id), Channel: bits(ChannelPoll), Body: storable(string(raw))})
	}), nil
}

// openLine returns the open line of a run, and opens one if there is none.
func (b *Inbox) openLine(ctx context.Context, run string) (string, error) {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	if err := b.writeLosses(ctx); err != nil {
		return "", err
	}
	if err := b.canStore(ctx); err != nil {
		return "", err
	}
	if line := b.polls.ofRun[run]; line != nil {
		switch alive, err := b.pollAlive(ctx, line); {
		case err != nil:
			return "", fmt.Errorf("inbox: the poll journal: %w", err)
		case alive:
			return line.id, nil
		}
	}
	line := &pollLine{id: uuid.NewString(), beat: time.Now()}
	if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlOpenPolls), line.id); err != nil {
		return "", fmt.Errorf("inbox: open the poll journal: %w", err)
	}
	if b.polls.ofRun == nil {
		b.polls.ofRun = make(map[string]*pollLine)
	}
	b.polls.ofRun[run] = line
	return line.id, nil
}

func pollKey(id string) string { return "poll-" + id }

// unreadableKey names what a poll returned by what it is: found again after a crash, it
// is in review once.
func unreadableKey(body string) string {
	hash := sha256.Sum256([]byte(body))
	return "raw-" + hex.EncodeToString(hash[:16])
}

// canStore reports whether an acceptance would succeed now. A full disk answers pings, so
// after an acceptance that failed only one that succeeds will do: otherwise polls would
// go on taking payments that nothing can hold.
func (b *Inbox) canStore(ctx context.Context) error {
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

// PollLost is called by package poller when a poll may have completed a payment that
// it did not receive whole; it satisfies poller.Journal. What did arrive is kept for
// review if it may hold a part of a record (see payments.Error.MayHoldRecord), the possible
// loss is written down in any case, and reconciliation begins. If the database
// is away it tries again until ctx ends; the first try is made even if ctx has ended. It returns
// within 15 s. If that fails the error says so, nothing
// is polled until the loss is stored, and AfterPolls does not close the journal before: the
// report is all there is of such a payment.
func (b *Inbox) PollLost(ctx context.Context, lost error) error {
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
		b.polls.mu.Lock()
		defer b.polls.mu.Unlock()
		b.polls.unwritten = append(b.polls.unwritten, unwrittenLoss{id, lost})
	}
	return err
}

// writeLosses stores what PollLost could not store. The caller holds polls.mu.
func (b *Inbox) writeLosses(ctx context.Context) error {
	for len(b.polls.unwritten) > 0 {
		l := b.polls.unwritten[0]
		if err := b.noteLoss(ctx, l.id, l.err); err != nil {
			return fmt.Errorf("inbox: a possible loss is not stored, nothing is polled until it is: %w", err)
		}
		b.polls.unwritten = b.polls.unwritten[1:]
		b.wakeReconcile()
	}
	return nil
}

// noteLoss may be called again after an error, which may have come after the commit. A loss
// whose text the database refuses is stored with a plain reason: nothing is polled until a loss
// is stored, and the database would refuse the same text every time.
func (b *Inbox) noteLoss(ctx context.Context, id string, lost error) error {
	raw := ""
	if e, ok := errors.AsType[*payments.Error](lost); ok && e.MayHoldRecord() {
		raw = string(e.Raw)
	}
	reason := storable("ambiguous: " + reasonText(lost))
	if raw != "" {
		err := b.put(ctx, op{
			Kind: opReview, ID: unreadableKey(storable(raw)), Channel: bits(ChannelPoll),
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

func (b *Inbox) insertLoss(ctx context.Context, id, reason string) error {
	_, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlLoss), id, reason)
	return err
}

// AfterPolls is called by package poller when no more polls come; it satisfies
// poller.Journal. It returns within 15 s, also if ctx has ended. If a possible loss cannot be stored the journal stays open, and the next
// start reports it like a crash.
func (b *Inbox) AfterPolls(ctx context.Context) error {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	write, done := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer done()
	if err := b.writeLosses(write); err != nil {
		return err
	}
	line := b.polls.ofRun[pollrun.ID(ctx)]
	if line == nil {
		return nil
	}
	_, err := b.store.ledger().ExecContext(write, b.d.sql(sqlClose), line.id, "clean")
	if err == nil {
		delete(b.polls.ofRun, pollrun.ID(ctx))
	}
	return err
}

func (b *Inbox) possibleLosses(ctx context.Context) ([]PossibleLoss, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlLosses))
	if err != nil {
		return nil, err
	}
	return collect(rows, func(rows *sql.Rows) (l PossibleLoss, err error) {
		var at int64
		err = rows.Scan(&l.ID, &at, &l.Reason)
		l.At, l.Reason = time.UnixMicro(at).UTC(), restored(l.Reason)
		return l, err
	})
}

// SettleLoss takes a possible loss off the reports: somebody has compared the books.
func (b *Inbox) SettleLoss(ctx context.Context, id string, by Decision) error {
	return b.decide(ctx, id, "settle loss", by, sqlSettle)
}

// queryStrings runs a query for one column.
func (b *Inbox) queryStrings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(query), args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) })
}
