package inbox

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"slices"
)

const (
	sqlCountHints = `SELECT count(*) FROM {p}payments WHERE stage < 2 AND own = 0`
	// Which are the oldest is decided before the locks: one that somebody holds stays for
	// the next time, and no younger one goes in its place. How many is decided with them:
	// another process may have been here since they were counted. Those in doubt (?2 is 0)
	// go only as far as they are too many by themselves: all others are given up by then,
	// or will be.
	sqlEvict = `WITH c AS (SELECT p.payment_id FROM {p}payments p WHERE p.stage = 1 AND p.own = 0 AND CASE WHEN p.reason = 'refused' THEN 1 ELSE 0 END = ?2
			AND p.payment_id IN (SELECT q.payment_id FROM {p}payments q
			WHERE q.stage IN (1, 4, 5) AND q.stage = 1 AND q.own = 0 AND CASE WHEN q.reason = 'refused' THEN 1 ELSE 0 END = ?2
			ORDER BY q.stage, q.first_seen
			LIMIT (SELECT CASE WHEN count(*) > ?1 THEN count(*) - ?1 ELSE 0 END FROM {p}payments
				WHERE stage < 2 AND own = 0 AND (?2 = 1 OR reason <> 'refused'))) {skip})
		DELETE FROM {p}payments WHERE payment_id IN (SELECT payment_id FROM c) AND stage = 1 RETURNING payment_id, first_seen`
)

// evictHints keeps the number of unknown hints bounded. First go those that the service
// has refused, the oldest of them first: if one is real the service names it again, for
// 75 hours. Those in doubt go last, and not without a report: they may be complete.
func (b *Inbox) evictHints(ctx context.Context) error {
	var n int
	if err := b.store.reader().QueryRowContext(ctx, b.d.sql(sqlCountHints)).Scan(&n); err != nil {
		return err
	}
	if n <= b.cfg.MaxHints {
		return nil
	}
	gone, err := b.evictRefused(ctx)
	if err != nil {
		return err
	}
	b.evicted.Add(int64(len(gone)))
	if len(gone) > 0 {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unknown payment ids; the oldest were given up", slog.Int("evicted", len(gone)))
	}
	if n-len(gone) <= b.cfg.MaxHints {
		return nil
	}
	return b.evictDoubtful(ctx)
}

func (b *Inbox) evictRefused(ctx context.Context) ([]string, error) {
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	gone, err := b.evict(ctx, tx, 1)
	if err != nil {
		return nil, err
	}
	return gone, tx.Commit()
}

// evict deletes hints of one sort and returns their ids, the oldest first.
func (b *Inbox) evict(ctx context.Context, tx *sql.Tx, refused int) (ids []string, err error) {
	type gone struct {
		id   string
		seen int64
	}
	rows, err := tx.QueryContext(ctx, b.d.sql(sqlEvict), b.cfg.MaxHints, refused)
	if err != nil {
		return nil, err
	}
	all, err := collect(rows, func(rows *sql.Rows) (g gone, err error) { return g, rows.Scan(&g.id, &g.seen) })
	slices.SortFunc(all, func(a, b gone) int { return cmp.Compare(a.seen, b.seen) })
	for _, g := range all {
		ids = append(ids, g.id)
	}
	return ids, err
}

// evictDoubtful gives up hints in doubt, and says so in the same transaction.
func (b *Inbox) evictDoubtful(ctx context.Context) error {
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := b.d.notSilent(ctx, tx); err != nil { // the rows are locked until the commit
		return err
	}
	if err := b.d.oneByOne(ctx, tx, hintLosses); err != nil { // the lines are counted
		return err
	}
	ids, err := b.evict(ctx, tx, 0)
	if err != nil || len(ids) == 0 {
		return err
	}
	first, err := b.noteHintLosses(ctx, tx, ids)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if first { // a flood is not to have everything asked for again and again
		b.askReconcile()
	}
	b.evicted.Add(int64(len(ids)))
	b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: too many unknown payment ids; some were given up whose confirm has no known outcome: "+
		"they may be complete payments, and are among the possible losses",
		slog.Int("evicted", len(ids)), slog.String("first", ids[0]), slog.String("last", ids[len(ids)-1]))
	return nil
}
