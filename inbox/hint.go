package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/payments"
)

// Note writes down that a webhook named id, before it is confirmed: the confirm may
// complete the payment, and then the service does not name it again. It satisfies
// webhook.Ledger, and is not called for ids that this merchant created: those are
// confirmed by reconciliation in any case.
func (b *Inbox) Note(ctx context.Context, id uuid.UUID) error {
	return b.put(ctx, op{Kind: opHint, ID: id.String()})
}

// owed is an id whose confirm is due.
type owed struct {
	id       string
	attempt  int64
	tries    int
	expected bool
}

// A confirm that is due is claimed like a payment: for a while nobody else asks. Ids
// that we created come first.
const sqlOwed = `WITH c AS (SELECT p.payment_id FROM {p}payments p
		WHERE p.stage < 2 AND p.own = ?3 AND p.run_at <= {now} ORDER BY p.run_at LIMIT ?1 {skip})
	UPDATE {p}payments SET run_at = {now} + ?2, attempt = attempt + 1, tries = tries + 1
	WHERE payment_id IN (SELECT payment_id FROM c) RETURNING payment_id, attempt, tries, stage`

const (
	confirmBatch = 16
	confirmLease = time.Minute
	hintMin      = 15 * time.Second // between two confirms of one hint
	hintMax      = time.Hour
)

// confirmDue confirms some of what is owed: created ids first, the others as far as
// their token bucket goes.
func (b *Inbox) confirmDue(ctx context.Context) (more bool, err error) {
	if err := b.evictHints(ctx); err != nil {
		return false, err
	}
	for _, lane := range []struct {
		own     int
		limiter *rate.Limiter
	}{{1, b.own}, {0, b.unknown}} {
		n := min(confirmBatch, int(lane.limiter.Tokens()))
		if n <= 0 {
			continue
		}
		due, err := b.owed(ctx, lane.own, n)
		if err != nil {
			return false, err
		}
		lane.limiter.AllowN(time.Now(), len(due))
		for _, o := range due {
			if _, err := b.ask(ctx, o); err != nil && ctx.Err() == nil {
				b.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "depositpay: not confirmed", slog.String("payment_id", o.id), slog.Any("error", err))
			}
		}
		more = more || len(due) == n
	}
	return more, nil
}

func (b *Inbox) owed(ctx context.Context, own, n int) (due []owed, err error) {
	err = b.store.claims(ctx, b.d.sql(sqlOwed), func(rows *sql.Rows) error {
		o, err := scanOwed(rows)
		due = append(due, o)
		return err
	}, n, confirmLease.Microseconds(), own)
	if err != nil {
		return nil, fmt.Errorf("inbox: what is owed: %w", err)
	}
	return due, nil
}

func scanOwed(rows *sql.Rows) (owed, error) {
	var o owed
	var stage Stage
	err := rows.Scan(&o.id, &o.attempt, &o.tries, &stage)
	o.expected = stage == StageExpected
	return o, err
}

const sqlOwedLater = `UPDATE {p}payments SET run_at = ?3 + CASE WHEN ?4 = 1 THEN 0 ELSE {now} END
	WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 < 2`

// ask asks the service about one id and takes what it says. A "no" is never final:
// the payer knows the id, and may have forged the webhook before paying. settled tells
// that the service gave an answer.
func (b *Inbox) ask(ctx context.Context, o owed) (settled bool, err error) {
	id, err := uuid.Parse(o.id)
	if err != nil {
		return true, err
	}
	p, err := b.cfg.Client.Confirm(ctx, id)
	if err == nil {
		return true, b.accept(context.WithoutCancel(ctx), p, ChannelReconcile)
	}
	settled = refused(err)
	wait, absolute := backoff.Delay(max(0, o.tries-1), hintMin, hintMax, backoff.Jitter()).Microseconds(), 0
	if o.expected && settled {
		wait, absolute = never, 1 // not paid yet: the next reconciliation asks again
	}
	_, dbErr := b.store.ledger().ExecContext(context.WithoutCancel(ctx), b.d.sql(sqlOwedLater), o.id, o.attempt, wait, absolute)
	return settled, errors.Join(err, dbErr)
}

// refused tells whether a confirm failed with an answer of the service.
func refused(err error) bool {
	e, ok := errors.AsType[*payments.Error](err)
	return ok && e.Code != "" && !errors.Is(err, payments.ErrAmbiguous)
}

const (
	sqlCountHints = `SELECT count(*) FROM {p}payments WHERE stage < 2 AND own = 0`
	// Which are the oldest is decided before the locks: one that somebody holds stays for
	// the next time, and no younger one goes in its place. How many is decided with them:
	// another process may have been here since they were counted.
	sqlEvict = `WITH c AS (SELECT p.payment_id FROM {p}payments p WHERE p.stage = 1 AND p.payment_id IN
			(SELECT q.payment_id FROM {p}payments q WHERE q.stage IN (1, 4, 5) AND q.stage = 1 AND q.own = 0
			ORDER BY q.stage, q.first_seen
			LIMIT (SELECT CASE WHEN count(*) > ?1 THEN count(*) - ?1 ELSE 0 END FROM {p}payments WHERE stage < 2 AND own = 0)) {skip})
		DELETE FROM {p}payments WHERE payment_id IN (SELECT payment_id FROM c) AND stage = 1`
)

// evictHints keeps the number of unknown hints bounded, oldest out first. A real
// payment among them is named by the service again, for 75 hours.
func (b *Inbox) evictHints(ctx context.Context) error {
	var n int
	if err := b.store.reader().QueryRowContext(ctx, b.d.sql(sqlCountHints)).Scan(&n); err != nil {
		return err
	}
	if n <= b.cfg.MaxHints {
		return nil
	}
	result, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlEvict), b.cfg.MaxHints)
	if err != nil {
		return err
	}
	evicted, err := result.RowsAffected()
	if err != nil {
		return err
	}
	b.evicted.Add(evicted)
	b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unknown payment ids; the oldest were given up", slog.Int64("evicted", evicted))
	return nil
}
