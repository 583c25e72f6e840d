package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrStage is wrapped by the error of a decision that is not possible in the payment's stage.
var ErrStage = errors.New("inbox: not possible in this stage")

// Decision says who decided, and why. Both are required and kept for ever.
type Decision struct{ Actor, Reason string }

// Approve runs the handler of a payment in review, whatever was wrong with the payment. A record that
// cannot be read cannot be approved.
func (b *Inbox) Approve(ctx context.Context, key string, by Decision) error {
	return b.decide(ctx, key, "approve", by, `UPDATE {p}payments SET stage = {ready}, approved = 1, run_at = {now}, wait = 0, tries = 0
		WHERE payment_id = ?1 AND stage = {review} AND reason NOT IN ('unreadable', 'unstorable')`)
}

// Reject moves a payment from review to the dead-letter list; its handler does not run.
func (b *Inbox) Reject(ctx context.Context, key string, by Decision) error {
	return b.decide(ctx, key, "reject", by, `UPDATE {p}payments SET stage = {dead}, reason = 'rejected: ' || reason WHERE payment_id = ?1 AND stage = {review}`)
}

// Retry runs the handler of a dead payment again, with a fresh set of attempts, after another check
// against its order.
func (b *Inbox) Retry(ctx context.Context, key string, by Decision) error {
	return b.decide(ctx, key, "retry", by, `UPDATE {p}payments SET stage = {ready}, run_at = {now}, wait = 0, tries = 0 WHERE payment_id = ?1 AND stage = {dead}`)
}

func (b *core) decide(ctx context.Context, key, action string, by Decision, statement string) error {
	if by.Actor == "" || by.Reason == "" {
		return fmt.Errorf("inbox: %s %s: a decision needs an actor and a reason", action, key)
	}
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("inbox: %s %s: %w", action, key, err)
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.ExecContext(ctx, b.d.sql(statement), key)
	if err != nil {
		return fmt.Errorf("inbox: %s %s: %w", action, key, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("%w: %s of %s; look at it with Get", ErrStage, action, key))
	}
	if _, err := tx.ExecContext(ctx, b.d.sql(`INSERT INTO {p}audit (payment_id, action, actor, reason, at) VALUES (?1, ?2, ?3, ?4, {now})`),
		key, action, storable(by.Actor), storable(by.Reason)); err != nil {
		return fmt.Errorf("inbox: %s %s: %w", action, key, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("inbox: %s %s: %w", action, key, err)
	}
	b.wake()
	return nil
}

// AuditLine is a decision of a person, or "settle loss" by the actor "inbox" with the proof as its
// reason (see Config.OnlyCreated).
type AuditLine struct {
	Action   string // "approve", "reject", "retry", "settle loss"
	Decision Decision
	At       time.Time // UTC
}

// Audit returns the decisions about a payment, or about a possible loss by its ID, in order.
func (b *Inbox) Audit(ctx context.Context, key string) ([]AuditLine, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(`SELECT action, actor, reason, at FROM {p}audit WHERE payment_id = ?1 ORDER BY audit_id`), key)
	if err != nil {
		return nil, fmt.Errorf("inbox: audit of %s: %w", key, err)
	}
	return collect(rows, func(rows *sql.Rows) (AuditLine, error) {
		var l AuditLine
		var at int64
		err := rows.Scan(&l.Action, &l.Decision.Actor, &l.Decision.Reason, &at)
		l.Decision.Actor, l.Decision.Reason, l.At = restored(l.Decision.Actor), restored(l.Decision.Reason), time.UnixMicro(at).UTC()
		return l, err
	})
}
