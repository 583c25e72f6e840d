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

// postgresStore writes ops straight into the ledger, a group in one statement. It keeps
// three connections for itself, so that handlers cannot take the last one of the pool.
type postgresStore struct {
	applier
	db     *sql.DB
	intake pinned
	work   pinned
	look   pinned
}

func openPostgresStore(ctx context.Context, db *sql.DB, a applier) (*postgresStore, error) {
	s := &postgresStore{applier: a, db: db, intake: pinned{db: db}, work: pinned{db: db}, look: pinned{db: db}}
	return s, s.intake.do(ctx, func(c *sql.Conn) error { return c.PingContext(ctx) })
}

// sqlHints is sqlHint for a whole group.
const sqlHints = `INSERT INTO {p}payments (payment_id, stage, run_at, first_seen)
	SELECT d.id, 1, {now} + ?2, {now} FROM ({list}) AS d(id)
	WHERE NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.payment_id = d.id) ON CONFLICT (payment_id) DO NOTHING`

// sqlRearmed is sqlRearm for a whole group.
const sqlRearmed = `UPDATE {p}payments SET run_at = {now} + ?2
	WHERE payment_id IN ({list}) AND stage + 0 < 2 AND run_at > {now} + ?2`

// sqlAccept is applier.record for a whole group. It returns the
// ids that another transaction inserted at the same moment and that this one could
// neither see nor insert: they need another round.
const sqlAccept = `WITH d AS (SELECT * FROM json_to_recordset(?1::json) AS d(id text, ch smallint, idf text, body text)),
	u AS (UPDATE {p}payments AS p SET stage = 2, record = d.body, source = p.source | d.ch,
		identifier = CASE WHEN p.own = 1 THEN p.identifier ELSE d.idf END,
		run_at = {now}, ready_at = {now}, tries = 0, reason = '', seen = p.seen + 1
		FROM d WHERE p.payment_id = d.id AND (p.stage + 0 < 2 OR p.stage + 0 = 4 AND p.record <> d.body) RETURNING p.payment_id),
	i AS (INSERT INTO {p}payments (payment_id, stage, source, record, identifier, run_at, ready_at, first_seen)
		SELECT d.id, 2, d.ch, d.body, d.idf, {now}, {now}, {now} FROM d
		WHERE NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.payment_id = d.id)
		ON CONFLICT (payment_id) DO NOTHING RETURNING payment_id),
	r AS (INSERT INTO {p}receipts (payment_id, channel, outcome, attempt, body, at)
		SELECT p.payment_id, e.channel, e.outcome, p.attempt, e.body, e.at
		FROM d JOIN {p}payments p ON p.payment_id = d.id AND p.stage + 0 > 1,
		LATERAL (SELECT p.source, 'accepted', p.record, p.ready_at WHERE d.id IN (SELECT * FROM u)
				AND NOT EXISTS (SELECT 1 FROM {p}receipts r WHERE r.payment_id = d.id AND {first})
			UNION ALL SELECT d.ch, CASE WHEN d.id IN (SELECT * FROM u) THEN 'accepted'
				WHEN p.record <> '' AND p.record <> d.body THEN 'differs' ELSE 'repeat' END, d.body, {now}) AS e(channel, outcome, body, at)
		RETURNING payment_id)
	SELECT id FROM d WHERE id NOT IN (SELECT * FROM u) AND id NOT IN (SELECT * FROM i) AND id NOT IN (SELECT payment_id FROM r)`

// accept is called by one goroutine at a time: the group's leader.
func (s *postgresStore) accept(ctx context.Context, ops []op) error {
	// In one order everywhere, so that two replicas with the same payments do not lock
	// their rows crosswise. Stable: ops of one id keep theirs.
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b op) int { return strings.Compare(a.ID, b.ID) })
	records, others := sorted(ops)
	return s.intake.do(ctx, func(c *sql.Conn) error {
		if len(others) > 0 {
			if err := s.acceptOthers(ctx, c, others); err != nil {
				return err
			}
		}
		for _, layer := range records {
			if err := s.acceptRecords(ctx, c, layer); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *postgresStore) acceptRecords(ctx context.Context, c *sql.Conn, records []op) error {
	const rounds = 5 // one is usual, two happen
	for range rounds {
		if len(records) == 0 {
			return nil
		}
		again, err := s.acceptOnce(ctx, c, records)
		if err != nil {
			return err
		}
		left := records[:0:0]
		for _, o := range records {
			if again[o.ID] {
				left = append(left, o)
			}
		}
		records = left
	}
	if len(records) == 0 {
		return nil
	}
	return fmt.Errorf("inbox: payment %s changes all the time; accept it again", records[0].ID)
}

func (s *postgresStore) acceptOnce(ctx context.Context, c *sql.Conn, records []op) (map[string]bool, error) {
	text, err := marshalOps(records)
	if err != nil {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, s.d.sql(sqlAccept), text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var again map[string]bool
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if again == nil {
			again = map[string]bool{}
		}
		again[id] = true
	}
	return again, rows.Err()
}

func marshalOps(ops []op) (string, error) {
	b := []byte{'['}
	for i, o := range ops {
		if i > 0 {
			b = append(b, ',')
		}
		text, err := o.MarshalJSON()
		if err != nil {
			return "", err
		}
		b = append(b, text...)
	}
	return string(append(b, ']')), nil
}

func (s *postgresStore) acceptOthers(ctx context.Context, c *sql.Conn, ops []op) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var hints []string
	for _, o := range ops {
		if o.Kind == opHint {
			hints = append(hints, o.ID)
			continue
		}
		if err := s.apply(ctx, tx, o); err != nil {
			return err
		}
	}
	if err := s.acceptHints(ctx, tx, hints); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *postgresStore) acceptHints(ctx context.Context, x execer, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	if _, err := x.ExecContext(ctx, s.d.sql(sqlHints), string(text), s.hintDelay); err != nil {
		return err
	}
	_, err = x.ExecContext(ctx, s.d.sql(sqlRearmed), string(text), s.hintDelay)
	return err
}

func (s *postgresStore) claims(ctx context.Context, query string, scan func(*sql.Rows) error, args ...any) error {
	return s.work.do(ctx, func(c *sql.Conn) error {
		rows, err := c.QueryContext(ctx, query, args...)
		return each(rows, err, scan)
	})
}

func (s *postgresStore) lookups(ctx context.Context, query string, scan func(*sql.Rows) error, args ...any) error {
	return s.look.do(ctx, func(c *sql.Conn) error {
		rows, err := c.QueryContext(ctx, query, args...)
		return each(rows, err, scan)
	})
}

func (s *postgresStore) room(opKind) error { return nil }

func (s *postgresStore) fold(context.Context) (bool, error) { return false, nil }

func (s *postgresStore) unfolded(uuid.UUID) (op, bool) { return op{}, false }

func (s *postgresStore) ledger() *sql.DB { return s.db }
func (s *postgresStore) reader() *sql.DB { return s.db }

func (s *postgresStore) close() error {
	return errors.Join(s.intake.close(), s.work.close(), s.look.close())
}
