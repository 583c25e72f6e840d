package inbox

import (
	"context"
	"log/slog"
	"time"
)

// The ledger's times are those of the database's clock, which may be set back, or be another
// machine's after a failover. A payment that was accepted before is due only when that clock has
// caught up, an hour later perhaps. So each row says how long the wait was when it was set
// (payments.wait): a wait that begins in the future is moved back. The leases are looked at by
// the claim itself, and a hint's longest wait follows from its tries.

const (
	clockEvery = 5 * time.Second
	// clockWindow bounds how many waiting payments one look reads; the next look goes on behind
	// them. They are those that a handler has refused or snoozed.
	clockWindow = 10_000
)

const (
	// Of one that is claimed wait is the lease, and its run_at was over.
	waitBegun = `(p.run_at - CASE WHEN p.leased = 0 THEN p.wait ELSE 0 END)`

	sqlLookAhead = `SELECT count(*), coalesce(max(w.run_at), 0), coalesce(sum(CASE WHEN w.begun > {now} OR w.ready_at > {now} THEN 1 ELSE 0 END), 0)
		FROM (SELECT p.run_at, ` + waitBegun + ` AS begun, p.ready_at FROM {p}payments p WHERE p.stage = 2 AND p.run_at > {now} AND p.run_at > ?1 ORDER BY p.run_at LIMIT ?2) AS w`

	aheadReady  = `p.stage = 2 AND p.run_at > {now} AND (` + waitBegun + ` > {now} OR p.ready_at > {now})`
	sqlHowAhead = `SELECT coalesce(max(CASE WHEN p.ready_at > ` + waitBegun + ` THEN p.ready_at ELSE ` + waitBegun + ` END) - {now}, 0)
		FROM {p}payments p WHERE ` + aheadReady
	// All by the same time, so that those of one identifier stay in order.
	sqlMoveBack = `UPDATE {p}payments AS p SET run_at = CASE WHEN ` + waitBegun + ` > {now} THEN run_at - ?1 ELSE run_at END,
			ready_at = CASE WHEN ready_at > {now} THEN ready_at - ?1 ELSE ready_at END
		WHERE payment_id IN (SELECT p.payment_id FROM {p}payments p WHERE ` + aheadReady + ` {skip})`

	// ?2 is the lease of a confirm, ?3 and ?4 the shortest and the longest wait, ?5 never.
	aheadHints = `stage < 2 AND own = ?1 AND run_at > {now} AND run_at < ?5
		AND run_at > {now} + CAST(?2 AS bigint) + CASE WHEN tries < 9 THEN CAST(?3 AS bigint) * (1 << tries) ELSE CAST(?4 AS bigint) END`
	sqlHintsAhead    = `SELECT count(*) FROM {p}payments WHERE ` + aheadHints
	sqlMoveHintsBack = `UPDATE {p}payments SET run_at = {now} WHERE ` + aheadHints
)

// clockWatch finds waits that begin in the future, and moves them back.
type clockWatch struct {
	b    *Inbox
	from int64 // run_at of the last payment that was looked at
}

// look is a step of Run. What it reads is bounded, so it never has more to do at once.
func (w *clockWatch) look(ctx context.Context) (more bool, err error) {
	ahead, err := w.readyAhead(ctx)
	if err != nil {
		return false, err
	}
	if ahead {
		if err := w.moveBack(ctx); err != nil {
			return false, err
		}
	}
	for own := range 2 {
		if err := w.moveHintsBack(ctx, own); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (w *clockWatch) readyAhead(ctx context.Context) (bool, error) {
	var n, ahead int
	var last int64
	err := w.b.store.reader().QueryRowContext(ctx, w.b.d.sql(sqlLookAhead), w.from, clockWindow).Scan(&n, &last, &ahead)
	if err != nil {
		return false, err
	}
	w.from = last
	if n < clockWindow {
		w.from = 0
	}
	return ahead > 0, nil
}

func (w *clockWatch) moveBack(ctx context.Context) error {
	var by int64
	if err := w.b.store.reader().QueryRowContext(ctx, w.b.d.sql(sqlHowAhead)).Scan(&by); err != nil || by <= 0 {
		return err
	}
	result, err := w.b.store.ledger().ExecContext(ctx, w.b.d.sql(sqlMoveBack), by)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 {
		return err
	}
	w.b.wake()
	ahead := time.Duration(by) * time.Microsecond
	if ahead >= time.Second { // less is a correction
		w.b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: the database's clock was set back; payments dated in its future were moved back with it",
			slog.Int64("payments", n), slog.Duration("by", ahead))
	}
	return nil
}

func (w *clockWatch) moveHintsBack(ctx context.Context, own int) error {
	args := []any{own, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never}
	var n int
	if err := w.b.store.reader().QueryRowContext(ctx, w.b.d.sql(sqlHintsAhead), args...).Scan(&n); err != nil || n == 0 {
		return err
	}
	_, err := w.b.store.ledger().ExecContext(ctx, w.b.d.sql(sqlMoveHintsBack), args...)
	return err
}
