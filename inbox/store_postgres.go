package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// postgresStore writes ops straight into the ledger, one statement per group.
type postgresStore struct {
	applier
	pool        pool
	connections *reservation
}

// sqlHints is sqlHint and sqlRearm for a whole group. It returns rejected hints that it saw but that
// another process evicted before the update: they need another round.
const sqlHints = `WITH d AS ({list}), i AS (INSERT INTO {p}payments (payment_id, stage, serialized, confirm, run_at, asked_at, first_seen)
		SELECT d.id, {hint}, {serialized}, {named}, {now} + ?2, {now}, {now} FROM d AS d(id)
		WHERE NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.payment_id = d.id) ON CONFLICT (payment_id) DO NOTHING),
	u AS (UPDATE {p}payments SET run_at = CASE WHEN run_at > {now} + ?2 THEN {now} + ?2 ELSE run_at END, asked_at = {now}, confirm = ` + confirmBegins + `{named} END
		WHERE payment_id IN (SELECT * FROM d) AND stage + 0 < {ready} AND (run_at > {now} + ?2 OR own = 0) RETURNING payment_id)
	SELECT payment_id FROM {p}payments WHERE payment_id IN (SELECT * FROM d) AND stage + 0 = {hint} AND confirm = {rejected}
		AND own = 0 AND payment_id NOT IN (SELECT * FROM u)`

// sqlNewRecords inserts the records of a group whose payments the ledger does not have yet (most of
// them) and returns their ids. It reads the clock once.
const sqlNewRecords = `INSERT INTO {p}payments (payment_id, stage, serialized, source, record, identifier, run_at, ready_at, first_seen)
	SELECT d.id, {ready}, {serialized}, d.ch, d.body, d.idf, n.t, n.t, n.t
	FROM (SELECT {now} AS t) n, json_to_recordset(?1::json) AS d(id text, ch smallint, idf text, body text)
	WHERE NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.payment_id = d.id)
	ON CONFLICT (payment_id) DO NOTHING RETURNING payment_id, ''`

// sqlOwedRecords promotes payments that wait for their record, and returns their ids.
const sqlOwedRecords = `UPDATE {p}payments AS p SET stage = {ready}, record = d.body, source = p.source | d.ch,
		identifier = CASE WHEN p.own = 1 THEN p.identifier ELSE d.idf END,
		run_at = n.t, ready_at = n.t, tries = 0, reason = '', confirm = {none}, seen = p.seen + 1
	FROM (SELECT {now} AS t) n, json_to_recordset(?1::json) AS d(id text, ch smallint, idf text, body text)
	WHERE p.payment_id = d.id AND p.stage + 0 < {ready} RETURNING p.payment_id, ''`

// sqlKnownRecords handles the remaining records as applier.record does, and returns the ids that it
// found with the outcomes of their receipts.
const sqlKnownRecords = `WITH d AS (SELECT * FROM json_to_recordset(?1::json) AS d(id text, ch smallint, idf text, body text)),
	u AS (UPDATE {p}payments AS p SET stage = {ready}, record = d.body, source = p.source | d.ch,
		identifier = CASE WHEN p.own = 1 THEN p.identifier ELSE d.idf END,
		run_at = {now}, wait = 0, ready_at = {now}, tries = 0, reason = '', confirm = {none}, seen = p.seen + 1
		FROM d WHERE p.payment_id = d.id AND (p.stage + 0 < {ready} OR p.stage + 0 = {review} AND p.record <> d.body) RETURNING p.payment_id),
	r AS (INSERT INTO {p}receipts (payment_id, channel, outcome, attempt, body, at)
		SELECT p.payment_id, e.channel, e.outcome, p.attempt, e.body, e.at
		FROM d JOIN {p}payments p ON p.payment_id = d.id AND p.stage + 0 > {hint},
		LATERAL (SELECT p.source, 'accepted', p.record, p.ready_at WHERE d.id IN (SELECT * FROM u)
				AND NOT EXISTS (SELECT 1 FROM {p}receipts r WHERE r.payment_id = d.id AND {first})
			UNION ALL SELECT d.ch, CASE WHEN d.id IN (SELECT * FROM u) THEN 'accepted'
				WHEN p.record <> '' AND p.record <> d.body THEN 'differs' ELSE 'repeat' END, d.body, {now}) AS e(channel, outcome, body, at)
		RETURNING payment_id, outcome)
	SELECT payment_id, '' FROM u UNION SELECT payment_id, outcome FROM r`

func (s *postgresStore) lanes() int { return intakeLanes }

func (s *postgresStore) accept(ctx context.Context, lane int, ops []op) error {
	// The same order everywhere, so that two replicas with the same payments do not deadlock.
	// Stable: ops of one id keep their order.
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b op) int { return strings.Compare(a.ID, b.ID) })
	records, others := splitRecords(ops)
	parts := s.otherParts(others)
	for _, layer := range records {
		parts = append(parts, func(ctx context.Context, c *dedicatedConn) error { return s.acceptRecords(ctx, c, &layer) })
	}
	left := &unfinished{parts}
	return s.connections.intake[lane].retry(ctx, func(c *dedicatedConn) error { return left.run(ctx, c) })
}

// unfinished holds the parts of a group that have not committed.
type unfinished struct{ parts []part }

// run continues where the last try ended.
func (u *unfinished) run(ctx context.Context, c *dedicatedConn) error {
	for len(u.parts) > 0 {
		if err := u.parts[0](ctx, c); err != nil {
			return err
		}
		u.parts = u.parts[1:]
	}
	return nil
}

// part is a part of a group with transactions of its own. A retry of the group starts with the first
// part that has not committed: a rejection applied twice would also count for a webhook that came in
// between, a second hint would look like a second confirm, and bodies and repeats would be stored twice.
type part func(context.Context, *dedicatedConn) error

// acceptRecords stores records of distinct payments. A payment that another transaction inserts at
// the same moment can neither be inserted nor seen, so it needs another round. Stored records are
// removed from left, also if acceptRecords fails.
func (s *postgresStore) acceptRecords(ctx context.Context, c *dedicatedConn, left *[]op) error {
	const rounds = 5 // one is usual, two happen
	for range rounds {
		for _, statement := range []string{sqlOwedRecords, sqlNewRecords, sqlKnownRecords} {
			if statement == sqlOwedRecords && !slices.ContainsFunc(*left, func(o op) bool { return o.owed }) {
				continue // sqlKnownRecords would work too
			}
			taken, err := s.takeRecords(ctx, c, statement, *left)
			*left = slices.DeleteFunc(slices.Clone(*left), func(o op) bool { return taken[o.ID] })
			if err != nil || len(*left) == 0 {
				return err
			}
		}
	}
	return fmt.Errorf("inbox: payment %s changes all the time; accept it again", (*left)[0].ID)
}

// takeRecords returns the ids of the records that the statement stored completely, also if
// takeRecords fails.
func (s *postgresStore) takeRecords(ctx context.Context, c *dedicatedConn, statement string, records []op) (map[string]bool, error) {
	taken, differ := make(map[string]bool, len(records)), map[string]bool{}
	err := c.inTx(ctx, func(x *sql.Conn) error {
		rows, err := x.QueryContext(ctx, s.d.sql(statement), opsJSON(records))
		return each(rows, err, func(rows *sql.Rows) error {
			var id string
			var outcome Outcome
			err := rows.Scan(&id, &outcome)
			taken[id], differ[id] = true, differ[id] || outcome == OutcomeDiffers
			return err
		})
	})
	if err != nil {
		return nil, err // rolled back, or ambiguous
	}
	for _, o := range records {
		if !differ[o.ID] {
			continue
		}
		if err == nil {
			err = s.promote(ctx, c, o)
		}
		taken[o.ID] = err == nil
	}
	return taken, err
}

// promote checks a payment again that went to review at this very moment. reviseRecord looks for
// different records too; both take the same lock, so the second sees what the first did.
func (s *postgresStore) promote(ctx context.Context, c *dedicatedConn, o op) error {
	err := c.inTx(ctx, func(x *sql.Conn) error {
		if err := s.d.lockPayment(ctx, x, o.ID); err != nil {
			return err
		}
		if _, err := x.ExecContext(ctx, s.d.sql(sqlKeepFirst), o.ID); err != nil {
			return err
		}
		result, err := x.ExecContext(ctx, s.d.sql(sqlPromote), o.ID, o.Channel, o.Body, o.Identifier)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return errNotInReview // rolls back sqlKeepFirst
	})
	if errors.Is(err, errNotInReview) {
		return nil
	}
	return err
}

var errNotInReview = errors.New("inbox: it is not in review")

// otherParts stores ops that are no records. Hints come in floods; then a group has only hints and
// their rejections.
func (s *postgresStore) otherParts(ops []op) (parts []part) {
	var hints, refused []string
	var rest []op
	for _, o := range ops {
		switch o.Kind {
		case opHint:
			hints = append(hints, o.ID)
		case opNo:
			refused = append(refused, o.ID)
		default:
			rest = append(rest, o)
		}
	}
	if len(refused) > 0 { // before hints, which may name the same ids later
		parts = append(parts, s.refusals(refused))
	}
	if len(hints) > 0 {
		parts = append(parts, func(ctx context.Context, c *dedicatedConn) error { return s.acceptHints(ctx, c, hints) })
	}
	if len(rest) > 0 {
		parts = append(parts, func(ctx context.Context, c *dedicatedConn) error { return s.acceptRest(ctx, c, rest) })
	}
	return parts
}

func (s *postgresStore) acceptRest(ctx context.Context, c *dedicatedConn, ops []op) error {
	return c.inTx(ctx, func(x *sql.Conn) error {
		for _, o := range ops {
			if err := s.apply(ctx, x, o); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *postgresStore) acceptHints(ctx context.Context, c *dedicatedConn, ids []string) error {
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	const rounds = 5 // one is usual
	var gone []string
	for range rounds {
		gone = gone[:0]
		err := c.inTx(ctx, func(x *sql.Conn) error {
			rows, err := x.QueryContext(ctx, s.d.sql(sqlHints), string(text), s.hintDelay)
			return each(rows, err, func(rows *sql.Rows) error {
				var id string
				err := rows.Scan(&id)
				gone = append(gone, id)
				return err
			})
		})
		if err != nil || len(gone) == 0 {
			return err
		}
	}
	return fmt.Errorf("inbox: payments %s change all the time; note them again", strings.Join(gone, ", "))
}

// refusals is the part that must not run twice: in between, another process may have named the id
// again. So it is not repeated after an ambiguous commit. A rejection that is not stored leaves the
// id unresolved, which is safe.
func (s *postgresStore) refusals(ids []string) part {
	committing := false
	return func(ctx context.Context, c *dedicatedConn) error {
		if committing {
			return nil
		}
		text, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		return c.inTx(ctx, func(x *sql.Conn) error {
			_, err := x.ExecContext(ctx, s.d.sql(sqlNo), string(text))
			committing = err == nil
			return err
		})
	}
}

func (s *postgresStore) claims() retrier  { return s.connections.work }
func (s *postgresStore) lookups() retrier { return s.connections.look }

func (s *postgresStore) room(opKind) error { return nil }

func (s *postgresStore) fold(context.Context) (bool, error) { return false, nil }

func (s *postgresStore) unfolded(uuid.UUID) (op, bool) { return op{}, false }

func (s *postgresStore) ledger() pool { return s.pool }
func (s *postgresStore) reader() pool { return s.pool }

func (s *postgresStore) close() error { return s.connections.release() }
