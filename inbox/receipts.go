package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Outcome is what became of something that was received, or of an attempt of the handler.
type Outcome string

// The outcomes. A successful attempt leaves no receipt; see Entry.DoneAt and Entry.Attempt.
const (
	OutcomeAccepted Outcome = "accepted" // a verified record, the first or a different one that took its place
	OutcomeRepeat   Outcome = "repeat"   // a verified record that the ledger already had
	OutcomeDiffers  Outcome = "differs"  // a verified record that differs from the ledger's
	OutcomeReview   Outcome = "review"   // moved to review, on arrival or by the check against its order
	OutcomeRaw      Outcome = "raw"      // the response of a poll, before it was decoded
	OutcomeFailed   Outcome = "failed"   // an attempt that will be repeated
	OutcomeSnoozed  Outcome = "snoozed"  // an attempt that does not count: Snooze, or the database rolled it back for another transaction
	OutcomeDead     Outcome = "dead"     // the last attempt
)

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
