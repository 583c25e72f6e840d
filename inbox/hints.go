package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// A confirm may complete a payment that nobody names again. So an id is unresolved from before its
// confirm until the service rejects it, and no unresolved id is ever evicted: when there are
// Config.MaxHints of them, new ids are turned away before they are confirmed. The service re-sends
// their webhooks for 75 hours. Of the rejected ids, the oldest are evicted. See DESIGN I-38.
const (
	sqlCountHints = `SELECT count(*) FROM {p}payments WHERE stage < {ready} AND own = 0`
	// An id that the ledger already has is not new.
	sqlDoubts = `SELECT '', count(*) FROM {p}payments WHERE stage < {ready} AND own = 0 AND confirm <> {rejected}
		UNION ALL SELECT payment_id, 0 FROM {p}payments WHERE payment_id IN ({list})`
	// The inner query chooses the oldest before any lock: a locked one stays for the next time, and no
	// younger one is evicted instead. It counts them too: another process may have evicted some since
	// evictHints counted.
	sqlEvict = `WITH c AS (SELECT p.payment_id FROM {p}payments p WHERE p.stage = {hint} AND p.own = 0 AND p.confirm = {rejected}
			AND p.payment_id IN (SELECT q.payment_id FROM {p}payments q
			WHERE q.stage IN ({hint}, {review}, {dead}) AND q.stage = {hint} AND q.own = 0 AND q.confirm = {rejected}
			ORDER BY q.stage, q.first_seen
			LIMIT (SELECT CASE WHEN count(*) > ?1 THEN count(*) - ?1 ELSE 0 END FROM {p}payments
				WHERE stage < {ready} AND own = 0)) {skip})
		DELETE FROM {p}payments WHERE payment_id IN (SELECT payment_id FROM c) AND stage = {hint}`
)

// newHint is an id that a webhook names and that needs a place among the hints.
type newHint struct {
	id    string
	known bool // an unfolded op has it
	full  bool // there is no place
}

// webhookLedger is the inbox as a webhook.Ledger.
type webhookLedger struct {
	*intake
	lookups    *group[*lookup]
	places     *group[*newHint]
	noting     atomic.Int64   // hints that have a place and may not be in the ledger yet
	evicted    atomic.Int64   // hints that were evicted
	turnedAway atomic.Int64   // new hints that were rejected
	sayFull    rate.Sometimes // about these
}

func newWebhookLedger(in *intake) *webhookLedger {
	b := &webhookLedger{intake: in, sayFull: rate.Sometimes{Interval: time.Minute}}
	b.lookups = newGroup(groupMax, b.lookUp)
	b.places = newGroup(groupMax, b.givePlaces)
	return b
}

// Accept takes custody of a confirmed payment; see intake.accept.
func (b *webhookLedger) Accept(ctx context.Context, p payments.Payment) error {
	return b.accept(ctx, p, ChannelWebhook)
}

// RecordHint makes durable that a webhook named id, before it is confirmed: the confirm may
// complete the payment, and then the service does not name it again. It is not called for
// ids that this merchant created: reconciliation confirms those anyway. If too many others
// are unresolved a new id is rejected with webhook.ErrFull; see Config.MaxHints.
func (b *webhookLedger) RecordHint(ctx context.Context, id uuid.UUID) error {
	_, known := b.store.unfolded(id)
	h := &newHint{id: id.String(), known: known}
	if err := b.places.do(context.WithoutCancel(ctx), h); err != nil { // a place must not go to a caller that has left
		return fmt.Errorf("inbox: payment %s: %w", id, err)
	}
	if h.full {
		return b.tooManyHints(ctx, id)
	}
	defer b.noting.Add(-1)
	return b.put(ctx, op{Kind: opHint, ID: id.String()})
}

// ConfirmFailed clears the hint's unresolved mark if the service rejected this very id, unless
// another confirm is pending. The hint may then be evicted if there are too many.
func (b *webhookLedger) ConfirmFailed(ctx context.Context, id uuid.UUID, err error) error {
	if !denied(err) {
		return nil
	}
	return b.put(ctx, op{Kind: opNo, ID: id.String()})
}

// givePlaces counts once for all who ask at the same time. noting counts a place until the hint is
// durable; then the query does. Hints that SQLite has not folded yet are extra; see maxHeldHints.
func (b *webhookLedger) givePlaces(asked []*newHint) error {
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
	underWay := b.noting.Load() // before the query: a hint that leaves this count is in the query's
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

func (b *webhookLedger) tooManyHints(ctx context.Context, id uuid.UUID) error {
	b.turnedAway.Add(1)
	b.sayFull.Do(func() {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unresolved payment ids: new ones are turned away, and the service re-sends their webhooks",
			slog.Int("max_hints", b.cfg.MaxHints))
	})
	return fmt.Errorf("inbox: payment %s: turned away, Config.MaxHints ids are unresolved: %w", id, webhook.ErrFull)
}

// evictHints bounds the number of unknown hints: the oldest of those that the service has rejected are
// evicted. If one is real, the service names it again.
func (b *webhookLedger) evictHints(ctx context.Context) error {
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
	b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "depositpay: too many unknown payment ids; the oldest that the service rejected were evicted", slog.Int64("evicted", gone))
	return nil
}
