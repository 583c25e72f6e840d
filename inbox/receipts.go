package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Outcome is what became of something that was received, or of a run of the handler.
type Outcome string

// The outcomes. A run that succeeds leaves no receipt: Entry.DoneAt and Attempt tell.
const (
	OutcomeAccepted Outcome = "accepted" // a verified record, the first or one that says something new
	OutcomeRepeat   Outcome = "repeat"   // a verified record that the ledger has already
	OutcomeDiffers  Outcome = "differs"  // a verified record that says something else than the one the ledger has
	OutcomeReview   Outcome = "review"   // set aside for a person, on arrival or by the guard
	OutcomeRaw      Outcome = "raw"      // what a poll returned, before it was read
	OutcomeFailed   Outcome = "failed"   // a run that is tried again
	OutcomeSnoozed  Outcome = "snoozed"  // a run that does not count: it asked for a later one, or the database undid it because of other transactions
	OutcomeDead     Outcome = "dead"     // the last run
)

// Receipt is one thing that was received, or one run of the handler that did not
// succeed; see Inbox.Receipts.
type Receipt struct {
	// Channel is the way it came; 0 for a run of the handler.
	Channel Channel
	Outcome Outcome
	// Attempt is how often the payment had been claimed by then, the run itself included.
	Attempt int64
	// Body is what was received, or why the run failed; empty once it is older than
	// Config.KeepBodies.
	Body string
	At   time.Time // UTC
}

const (
	sqlReceipts = `SELECT channel, outcome, attempt, coalesce(body, ''), at FROM {p}receipts WHERE payment_id = ?1 ORDER BY receipt_id`
	// The payment's row is the receipt of its first record.
	sqlFirst = `SELECT p.source, 'accepted', 0, p.record, p.ready_at FROM {p}payments p WHERE p.payment_id = ?1 AND p.stage > {hint}
		AND NOT EXISTS (SELECT 1 FROM {p}receipts r WHERE r.payment_id = ?1 AND {first})`
)

// Receipts returns all that was received for a payment, and its failed runs, in order.
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
