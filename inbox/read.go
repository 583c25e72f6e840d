package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// Entry is a payment as the ledger has it.
type Entry struct {
	// Key is the payment id, or a generated key for a record without a readable id.
	Key   string
	Stage Stage
	// Sources are the channels that delivered the record.
	Sources Channel
	// Own reports whether this merchant created the payment.
	Own bool
	// Payment is the record; the zero Payment before StageReady, if Unreadable is set, and if the
	// payment was done longer ago than Config.KeepBodies.
	Payment payments.Payment
	// Unreadable has the bytes of a record that cannot be decoded.
	Unreadable string
	// Reason says why the payment is in review or dead, or how its last attempt failed.
	Reason string
	// Confirm is what is known of the confirms of a hint that this merchant did not create;
	// ConfirmNone for every other payment.
	Confirm ConfirmState
	// Rejected reports whether the payment is dead because of Reject. It is false if a later Retry or
	// Approve ran the handler and the handler gave up.
	Rejected bool
	// Attempt is how often it was claimed; Tries how often since a person last retried it.
	Attempt int64
	Tries   int
	// Seen is how often a record of it changed the ledger.
	Seen int
	// FirstSeen and RunAt are in UTC. RunAt is when the payment is due, the end of the lease if it is
	// claimed, and the zero time if it is not scheduled.
	FirstSeen, RunAt time.Time
	// DoneAt is when its handler succeeded; the zero time before.
	DoneAt time.Time
}

// ErrNotFound is wrapped by the error for a payment that the ledger does not have.
var ErrNotFound = errors.New("inbox: no such payment")

const sqlEntry = `SELECT payment_id, stage, source, own, coalesce(record, ''), reason, confirm, attempt, tries, seen, first_seen,
	CASE WHEN stage = {ready} AND leased > run_at THEN leased ELSE run_at END, coalesce(done_at, 0),
	stage = {dead} AND reason LIKE 'rejected: %' AND 'reject' =
		(SELECT action FROM {p}audit AS a WHERE a.payment_id = {p}payments.payment_id ORDER BY audit_id DESC LIMIT 1)
	FROM {p}payments`

// Get returns one payment by its key, the payment id. The error wraps ErrNotFound if the ledger does not
// have it. Get sees a record as soon as it is accepted, and what Create and Expect registered at once on
// PostgreSQL, on SQLite once Run has applied it.
func (b *Inbox) Get(ctx context.Context, key string) (Entry, error) { return b.entry(ctx, key) }

func (b *core) entry(ctx context.Context, key string) (Entry, error) {
	var waiting op // read first: if it is folded meanwhile, the ledger has it
	held := false
	if id, err := uuid.Parse(key); err == nil {
		waiting, held = b.store.unfolded(id)
	}
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlEntry+` WHERE payment_id = ?1`), key)
	if err != nil {
		return Entry{}, fmt.Errorf("inbox: payment %s: %w", key, err)
	}
	found, err := collect(rows, scanEntry)
	if err != nil {
		return Entry{}, fmt.Errorf("inbox: payment %s: %w", key, err)
	}
	if held && waiting.Kind != opBind && (len(found) == 0 || found[0].Stage < StageReady) {
		e := Entry{Key: key, Stage: StageReady, Sources: Channel(waiting.Channel)}
		return e, json.Unmarshal([]byte(waiting.Body), &e.Payment)
	}
	if len(found) == 0 {
		return Entry{}, fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	return found[0], nil
}

// Filter selects payments. The zero Filter selects all.
type Filter struct {
	// Stages, if set, are the stages to list.
	Stages []Stage
	// Identifier, if set, is the identifier to list.
	Identifier string
	// Limit bounds the list. Default: none.
	Limit int
}

// List yields payments, the oldest first. It reads page by page, so the list is no snapshot: concurrent
// changes may or may not show. An error ends it. Only ctx bounds its time: without Stages, or with
// StageReady or StageDone, each page sorts the whole ledger.
func (b *Inbox) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		const pageSize = 200
		var after int64
		var key string
		for left := f.Limit; ; {
			size := pageSize
			if f.Limit > 0 {
				size = min(size, left)
			}
			page, err := b.page(ctx, f, after, key, size)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			left -= len(page)
			if len(page) < pageSize || f.Limit > 0 && left <= 0 {
				return
			}
			after, key = page[len(page)-1].FirstSeen.UnixMicro(), page[len(page)-1].Key
		}
	}
}

func (b *core) page(ctx context.Context, f Filter, after int64, key string, size int) ([]Entry, error) {
	query, args := b.pageQuery(f, after, key, size)
	rows, err := b.store.reader().queryLong(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("inbox: list: %w", err)
	}
	return collect(rows, scanEntry)
}

const sqlPage = ` ORDER BY first_seen, payment_id LIMIT ?3`

// pageQuery queries each stage separately: one condition for several would read the whole ledger.
func (b *core) pageQuery(f Filter, after int64, key string, size int) (query string, args []any) {
	query, args = sqlEntry+` WHERE (first_seen, payment_id) > (?1, ?2)`, []any{after, key, size}
	if f.Identifier != "" {
		args = append(args, identifierKey(f.Identifier))
		query += fmt.Sprintf(" AND identifier = ?%d", len(args))
	}
	var each []string
	for _, s := range slices.Compact(slices.Sorted(slices.Values(f.Stages))) {
		each = append(each, "SELECT * FROM ("+query+" AND "+inStage(s)+sqlPage+") AS s")
	}
	if len(each) > 0 {
		query = "SELECT * FROM (" + strings.Join(each, "\nUNION ALL ") + ") AS e"
	}
	return b.d.words(query + sqlPage), args
}

// inStage is the condition that a payment is in a stage. It repeats the condition of the partial index
// of the stage; SQLite would not use the index otherwise.
func inStage(s Stage) string {
	if s == StageHint || s == StageReview || s == StageDead {
		return fmt.Sprintf("stage IN ({hint}, {review}, {dead}) AND stage = %d", s)
	}
	return fmt.Sprintf("stage = %d", s)
}

func scanEntry(rows *sql.Rows) (Entry, error) {
	var e Entry
	var record string
	var firstSeen, runAt, doneAt int64
	var rejected sql.NullBool
	if err := rows.Scan(&e.Key, &e.Stage, &e.Sources, &e.Own, &record, &e.Reason, &e.Confirm, &e.Attempt, &e.Tries, &e.Seen, &firstSeen, &runAt, &doneAt, &rejected); err != nil {
		return e, err
	}
	e.Reason, e.Rejected = restored(e.Reason), rejected.Bool
	e.FirstSeen = time.UnixMicro(firstSeen).UTC()
	if runAt < never && (e.Stage == StageHint || e.Stage == StageExpected || e.Stage == StageReady) {
		e.RunAt = time.UnixMicro(runAt).UTC()
	}
	if doneAt > 0 {
		e.DoneAt = time.UnixMicro(doneAt).UTC()
	}
	if record != "" && json.Unmarshal([]byte(record), &e.Payment) != nil {
		e.Unreadable = restored(record)
	}
	return e, nil
}

// Receipt is one thing that was received, or one attempt of the handler that did not succeed; see
// Inbox.Receipts.
type Receipt struct {
	// Channel is how it arrived; 0 for an attempt of the handler.
	Channel Channel
	Outcome Outcome
	// Attempt is how often the payment had been claimed by then, including this attempt.
	Attempt int64
	// Body is what was received, or why the attempt failed; empty once older than Config.KeepBodies.
	Body string
	At   time.Time // UTC
}

const (
	sqlReceipts = `SELECT channel, outcome, attempt, coalesce(body, ''), at FROM {p}receipts WHERE payment_id = ?1 ORDER BY receipt_id`
	// The payment's row is the receipt of its first record.
	sqlFirst = `SELECT p.source, 'accepted', 0, p.record, p.ready_at FROM {p}payments p WHERE p.payment_id = ?1 AND p.stage > {hint}
		AND NOT EXISTS (SELECT 1 FROM {p}receipts r WHERE r.payment_id = ?1 AND {first})`
)

// Receipts returns everything received for a payment and its failed attempts, in order.
func (b *Inbox) Receipts(ctx context.Context, key string) ([]Receipt, error) {
	return b.receipts(ctx, key)
}

func (b *core) receipts(ctx context.Context, key string) ([]Receipt, error) {
	first, err := b.queryReceipts(ctx, sqlFirst, key)
	if err != nil {
		return nil, err
	}
	all, err := b.queryReceipts(ctx, sqlReceipts, key)
	if err != nil || len(first) == 0 {
		return all, err
	}
	at := slices.IndexFunc(all, func(r Receipt) bool { return !r.At.Before(first[0].At) })
	if at < 0 {
		at = len(all)
	}
	return slices.Insert(all, at, first...), nil
}

func (b *core) queryReceipts(ctx context.Context, query, key string) ([]Receipt, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(query), key)
	if err != nil {
		return nil, fmt.Errorf("inbox: receipts of %s: %w", key, err)
	}
	return collect(rows, func(rows *sql.Rows) (Receipt, error) {
		var r Receipt
		var at int64
		err := rows.Scan(&r.Channel, &r.Outcome, &r.Attempt, &r.Body, &at)
		r.Body, r.At = restored(r.Body), time.UnixMicro(at).UTC()
		return r, err
	})
}

// CountLimit caps each of Status.Count; at the cap it means that many or more.
const CountLimit = 10_000

// Status summarizes the ledger. Its cost does not grow with the ledger.
type Status struct {
	// Count is the number of payments in each stage, up to CountLimit. Done payments count as long as
	// their record is kept; see Config.KeepBodies.
	Count map[Stage]int64
	// OldestReady is how long the payment that has waited longest for its handler has waited since its
	// record arrived; 0 if none waits. Set an alarm on it. A record dated in the future, because the
	// database's clock was set back, counts by its distance, so the alarm sees it; Run corrects the
	// date within seconds. With more than CountLimit ready payments, only those due first count.
	OldestReady time.Duration
	// EvictedHints is how many unknown ids, all rejected by the service, this process has evicted; see
	// Config.MaxHints.
	EvictedHints int64
	// TurnedAway is how many webhooks of unknown ids this process has turned away; see Config.MaxHints.
	TurnedAway int64
}

// sqlStages are the rows that Status counts. Each repeats the condition and the order of a partial
// index, or the planner would read the whole ledger.
var sqlStages = map[Stage]string{
	StageExpected: `stage = {expected} ORDER BY first_seen`,
	StageHint:     `stage IN ({hint}, {review}, {dead}) AND stage = {hint} ORDER BY stage, first_seen`,
	StageReady:    `stage = {ready} ORDER BY run_at`,
	StageDone:     `stage = {done} AND record <> '' ORDER BY done_at`,
	StageReview:   `stage IN ({hint}, {review}, {dead}) AND stage = {review} ORDER BY stage, first_seen`,
	StageDead:     `stage IN ({hint}, {review}, {dead}) AND stage = {dead} ORDER BY stage, first_seen`,
}

// sqlStatus returns a row per stage: the count, and for ready payments the largest distance of a
// record's time from now, in µs.
var sqlStatus = func() string {
	var counts []string
	for stage := StageExpected; stage <= StageDead; stage++ {
		away, column := "0", "1"
		if stage == StageReady {
			away, column = "coalesce(max(abs({now} - c.ready_at)), 0)", "ready_at"
		}
		counts = append(counts, fmt.Sprintf("SELECT %d, count(*), %s FROM (SELECT %s FROM {p}payments WHERE %s LIMIT ?1) AS c", stage, away, column, sqlStages[stage]))
	}
	return strings.Join(counts, "\nUNION ALL ")
}()

// Status counts the payments of each stage.
func (b *Inbox) Status(ctx context.Context) (Status, error) {
	s := Status{Count: map[Stage]int64{}, EvictedHints: b.webhook.evicted.Load(), TurnedAway: b.webhook.turnedAway.Load()}
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlStatus), CountLimit)
	err = each(rows, err, func(rows *sql.Rows) error {
		var stage Stage
		var n, away int64
		if err := rows.Scan(&stage, &n, &away); err != nil {
			return err
		}
		if n > 0 {
			s.Count[stage] = n
		}
		if stage == StageReady {
			s.OldestReady = time.Duration(away) * time.Microsecond
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("inbox: status: %w", err)
	}
	return s, nil
}
