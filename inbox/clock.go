package inbox

import (
	"context"
	"log/slog"
	"time"
)

// The ledger's times come from the database's clock, which may be set back, or belong to another
// machine after a failover. A payment accepted before that is due only when the clock has caught up,
// perhaps an hour later. So each row stores how long its wait was (payments.wait), and a wait that
// begins in the future is moved back. Claims check leases themselves, the longest wait of a hint
// follows from its tries, and the heartbeat of a poller is set to now. See DESIGN I-18.

const (
	clockEvery = 5 * time.Second
	// clockWindow bounds how many waiting payments (failed or snoozed ones) one look reads; the next
	// look continues after them.
	clockWindow = 10_000
)

const (
	// In a claimed payment, wait is the lease, and run_at has passed.
	waitBegun = `(p.run_at - CASE WHEN p.leased = 0 THEN p.wait ELSE 0 END)`

	sqlLookAhead = `SELECT count(*), coalesce(max(w.run_at), 0), coalesce(sum(CASE WHEN w.begun > {now} OR w.ready_at > {now} THEN 1 ELSE 0 END), 0)
		FROM (SELECT p.run_at, ` + waitBegun + ` AS begun, p.ready_at FROM {p}payments p WHERE p.stage = {ready} AND p.run_at > {now} AND p.run_at > ?1 ORDER BY p.run_at LIMIT ?2) AS w`

	// Every ready payment with a time in the future, due or not; see held in sqlMoveBack.
	aheadReady  = `p.stage = {ready} AND (p.ready_at > t.now OR p.run_at > t.now AND ` + waitBegun + ` > t.now)`
	sqlHowAhead = `WITH t AS (SELECT {now} AS now)
		SELECT coalesce(max(CASE WHEN p.ready_at > ` + waitBegun + ` THEN p.ready_at ELSE ` + waitBegun + ` END - t.now), 0)
		FROM {p}payments p, t WHERE ` + aheadReady
	// In steps: l locks the payments that are ahead. u adds all serialized ones, to see the order of
	// their identifiers; mine marks the locked rows. m computes for each identifier the place behind
	// the payments that are not ahead (last), and how many that are ahead a handler has locked (held).
	// All move back by ?1, the distance of the furthest, so those of one identifier stay in order among
	// themselves. While one is held all of its identifier wait for the next look, or the later ones
	// would overtake it. Windows over one set, because a join of 50,000 rows that are ahead would go
	// row by row: the planner cannot know how many there are.
	sqlMoveBack = `WITH t AS (SELECT {now} AS now),
		l AS (SELECT p.payment_id, p.{tie} AS tie, p.identifier, p.serialized, p.run_at, p.ready_at, ` + waitBegun + ` AS begun
			FROM {p}payments p, t WHERE ` + aheadReady + ` {skip}),
		u AS (SELECT l.payment_id, l.tie, l.identifier, l.serialized, l.run_at, l.ready_at, l.begun, 1 AS mine FROM l
			UNION ALL SELECT q.payment_id, q.{tie}, q.identifier, q.serialized, q.run_at, q.ready_at, 0, 0
			FROM {p}payments q WHERE q.stage = {ready} AND q.serialized = 1 AND q.identifier <> ''),
		m AS (SELECT u.payment_id, u.mine, u.run_at, u.ready_at, u.begun,
			coalesce(max(CASE WHEN u.ready_at <= t.now THEN u.ready_at END) OVER who, 0)
				+ row_number() OVER (PARTITION BY u.identifier, u.serialized ORDER BY u.ready_at, u.tie) AS last,
			sum(CASE WHEN u.ready_at <= t.now OR u.serialized = 0 OR u.identifier = '' THEN 0 WHEN u.mine = 1 THEN -1 ELSE 1 END) OVER who AS held
			FROM u, t WINDOW who AS (PARTITION BY u.identifier, u.serialized))
		UPDATE {p}payments AS p SET run_at = CASE WHEN m.begun > t.now THEN m.run_at - ?1 ELSE m.run_at END,
			ready_at = CASE WHEN m.ready_at <= t.now THEN m.ready_at WHEN m.ready_at - ?1 > m.last THEN m.ready_at - ?1 ELSE m.last END
		FROM m, t WHERE p.payment_id = m.payment_id AND m.mine = 1 AND m.held <= 0`

	// ?2 is the lease of a confirm, ?3 and ?4 the shortest and the longest wait, ?5 never.
	aheadHints = `stage < {ready} AND own = ?1 AND run_at > {now} AND run_at < ?5
		AND run_at > {now} + CAST(?2 AS bigint) + CASE WHEN tries < 9 THEN CAST(?3 AS bigint) * (1 << tries) ELSE CAST(?4 AS bigint) END`
	sqlHintsAhead = `SELECT count(*) FROM {p}payments WHERE ` + aheadHints
	// A live poller beats again, and a dead one is found after its timeout. ?1 tolerates small corrections.
	aheadBeats       = `closed_at IS NULL AND outcome = '' AND beat_at > {now} + CAST(?1 AS bigint)`
	sqlBeatsAhead    = `SELECT count(*) FROM {p}polls WHERE ` + aheadBeats
	sqlMoveBeatsBack = `UPDATE {p}polls SET beat_at = {now} WHERE ` + aheadBeats
	sqlMoveHintsBack = `UPDATE {p}payments SET run_at = {now} WHERE ` + aheadHints
)

// clockWatch finds waits that begin in the future and moves them back.
type clockWatch struct {
	b    *core
	from int64 // run_at of the last payment that was looked at
}

// look is a step of Run. It reads a bounded number of rows and never asks to run again at once.
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
	return false, w.moveBeatsBack(ctx)
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

// moveBeatsBack is for PostgreSQL: a file has no other process whose heartbeats could matter.
func (w *clockWatch) moveBeatsBack(ctx context.Context) error {
	if w.b.cfg.SQLite != nil {
		return nil
	}
	return w.moveIfAny(ctx, sqlBeatsAhead, sqlMoveBeatsBack, beatEvery.Microseconds())
}

func (w *clockWatch) moveHintsBack(ctx context.Context, own int) error {
	return w.moveIfAny(ctx, sqlHintsAhead, sqlMoveHintsBack, own, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never)
}

// moveIfAny counts first: there is almost never anything to write.
func (w *clockWatch) moveIfAny(ctx context.Context, count, move string, args ...any) error {
	var n int
	if err := w.b.store.reader().QueryRowContext(ctx, w.b.d.sql(count), args...).Scan(&n); err != nil || n == 0 {
		return err
	}
	_, err := w.b.store.ledger().ExecContext(ctx, w.b.d.sql(move), args...)
	return err
}
