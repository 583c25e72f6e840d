package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/webhook"
)

// A confirm may complete a payment that nobody names again. So an id is in doubt from before
// its confirm until the service has said no, and no id in doubt is ever given up: when there are
// Config.MaxHints of these, new ids are refused before they are confirmed. The service sends
// their webhooks again, for 75 hours. Of the others, which it has refused, the oldest go.
const (
	sqlCountHints = `SELECT count(*) FROM {p}payments WHERE stage < {ready} AND own = 0`
	// An id that the ledger has is not new, whatever it is.
	sqlDoubts = `SELECT '', count(*) FROM {p}payments WHERE stage < {ready} AND own = 0 AND confirm <> {rejected}
		UNION ALL SELECT payment_id, 0 FROM {p}payments WHERE payment_id IN ({list})`
	// Which are the oldest is decided before the locks: one that somebody holds stays for
	// the next time, and no younger one goes in its place. How many is decided with them:
	// another process may have been here since they were counted.
	sqlEvict = `WITH c AS (SELECT p.payment_id FROM {p}payments p WHERE p.stage = {hint} AND p.own = 0 AND p.confirm = {rejected}
			AND p.payment_id IN (SELECT q.payment_id FROM {p}payments q
			WHERE q.stage IN ({hint}, {review}, {dead}) AND q.stage = {hint} AND q.own = 0 AND q.confirm = {rejected}
			ORDER BY q.stage, q.first_seen
			LIMIT (SELECT CASE WHEN count(*) > ?1 THEN count(*) - ?1 ELSE 0 END FROM {p}payments
				WHERE stage < {ready} AND own = 0)) {skip})
		DELETE FROM {p}payments WHERE payment_id IN (SELECT payment_id FROM c) AND stage = {hint}`
)

// newHint is an id that a webhook names and that wants to be noted.
type newHint struct {
	id    string
	known bool // it is on record already
	full  bool // there is no place for it
}

// givePlaces counts for all who ask at once. A place is taken until the hint is durable, and
// counted with the others then. What SQLite has not folded yet comes on top; see maxHeldHints.
func (b *Inbox) givePlaces(asked []*newHint) error {
	ids := make([]string, len(asked))
	for i, h := range asked {
		ids[i] = h.id
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	type row struct {
		id     string
		doubts int64
	}
	underWay := b.noting.Load() // before the query: who is not here any more is counted there
	rows, err := queryRows(ctx, b.store.lookups(), b.d.sql(sqlDoubts), func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.id, &r.doubts)
		return r, err
	}, string(text))
	if err != nil {
		return err
	}
	var doubts int64
	known := make(map[string]bool, len(rows))
	for _, r := range rows {
		known[r.id], doubts = true, max(doubts, r.doubts)
	}
	for _, h := range asked {
		h.full = !h.known && !known[h.id] && doubts+underWay >= int64(b.cfg.MaxHints)
		if !h.full {
			underWay++
			b.noting.Add(1)
		}
	}
	return nil
}

func (b *Inbox) tooManyHints(ctx context.Context, id uuid.UUID) error {
	b.turnedAway.Add(1)
	b.sayFull.Do(func() {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unknown payment ids whose confirm has no known outcome: new ones are turned away, and their webhooks come again",
			slog.Int("max_hints", b.cfg.MaxHints))
	})
	return fmt.Errorf("inbox: payment %s: Config.MaxHints unknown ids wait for the outcome of their confirm: %w", id, webhook.ErrFull)
}

// evictHints keeps the number of unknown hints bounded: of those that the service has refused
// the oldest go. If one is real the service names it again.
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
	gone, err := result.RowsAffected()
	if err != nil || gone == 0 {
		return err
	}
	b.evicted.Add(gone)
	b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unknown payment ids; the oldest that the service has refused were given up", slog.Int64("evicted", gone))
	return nil
}
