package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/google/uuid"
)

// sqliteStore writes ops to the intake file, with one sync a group, and folds them into
// the ledger when the ledger's one writer is free. A handler's open transaction is
// that writer, so an acceptance never waits for it.
type sqliteStore struct {
	applier
	db     SQLite
	intake *sql.Conn
	insert *sql.Stmt
	forget *sql.Stmt
	// of the fold
	statements prepared
	log        *slog.Logger
	file       string // the intake file's own id: positions of another file mean nothing

	mu      sync.Mutex
	waiting []line                // durable, not folded, in order
	byID    map[string]unfoldedOp // of waiting, see unfolded
	held    int                   // bytes of waiting, about
	folding sync.Mutex
	folded  int64 // position in the intake file
}

// line is one line of the intake file: a group of ops that became durable together.
type line struct {
	n   int64
	ops []op
}

// size is about what a line holds in memory.
func (l line) size() (n int) {
	for _, o := range l.ops {
		n += 300 + len(o.Body) + len(o.Items)
	}
	return n
}

// What waits to be folded is held in memory, so it is bounded: a handler may keep the
// ledger's one writer for half a minute. Hints are strangers' ids, and may not fill the
// room that records need.
const (
	maxHeld      = 128 << 20
	maxHeldHints = maxHeld / 4
)

var errBehind = errors.New("inbox: the ledger is behind: too much waits for its one writer, which a slow handler may hold; try again later")

func (s *sqliteStore) room(kind opKind) error {
	limit := maxHeld
	if kind == opHint || kind == opNo {
		limit = maxHeldHints
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held >= limit {
		return errBehind
	}
	return nil
}

const sqlIntake = `CREATE TABLE IF NOT EXISTS intake (n INTEGER PRIMARY KEY AUTOINCREMENT, ops TEXT NOT NULL) STRICT;
	CREATE TABLE IF NOT EXISTS file (id TEXT NOT NULL) STRICT`

func openSQLiteStore(ctx context.Context, db SQLite, a applier, log *slog.Logger) (*sqliteStore, error) {
	s := &sqliteStore{applier: a, db: db, log: log, byID: map[string]unfoldedOp{}}
	var err error
	if s.intake, err = db.Intake.Conn(ctx); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.intake.Close())
	}
	return s, nil
}

func (s *sqliteStore) prepare(ctx context.Context) error {
	if _, err := s.intake.ExecContext(ctx, sqlIntake); err != nil {
		return err
	}
	if _, err := s.intake.ExecContext(ctx, `INSERT INTO file (id) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM file)`, uuid.NewString()); err != nil {
		return err
	}
	if err := s.intake.QueryRowContext(ctx, `SELECT id FROM file`).Scan(&s.file); err != nil {
		return err
	}
	var err error
	if s.folded, err = s.position(ctx, s.db.Writer); err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	if s.insert, err = s.intake.PrepareContext(ctx, `INSERT INTO intake (ops) VALUES (?1)`); err != nil {
		return err
	}
	if s.forget, err = s.intake.PrepareContext(ctx, `DELETE FROM intake WHERE n <= ?1`); err != nil {
		return err
	}
	var statements []string
	for _, text := range opStatements {
		statements = append(statements, s.d.sql(text))
	}
	s.statements, err = prepare(ctx, s.db.Writer, statements...)
	return err
}

// load finds what a process before this one made durable and did not fold.
func (s *sqliteStore) load(ctx context.Context) error {
	rows, err := s.intake.QueryContext(ctx, `SELECT n, ops FROM intake WHERE n > ?1 ORDER BY n`, s.folded)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n int64
		var text string
		if err := rows.Scan(&n, &text); err != nil {
			return err
		}
		var ops []op
		if err := json.Unmarshal([]byte(text), &ops); err != nil {
			ops = []op{s.unstorable(text, fmt.Errorf("line %d of the intake file is damaged: %w", n, err))}
		}
		s.remember(n, ops)
	}
	return rows.Err()
}

// remember adds a group to what waits. The caller holds s.mu, or is alone.
func (s *sqliteStore) remember(n int64, ops []op) {
	added := line{n, ops}
	s.waiting = append(s.waiting, added)
	s.held += added.size()
	for _, o := range ops {
		s.index(n, o)
	}
}

// unfoldedOp is what unfolded returns, and the line that it stands in.
type unfoldedOp struct {
	op
	n int64
}

func (s *sqliteStore) index(n int64, o op) {
	have, held := s.byID[o.ID]
	switch o.Kind {
	case opRecord, opReview:
		if !held || have.Kind == opBind {
			s.byID[o.ID] = unfoldedOp{o, n}
		}
	case opBind:
		if !held {
			s.byID[o.ID] = unfoldedOp{o, n}
		}
	case opHint, opNo, opRaw, opOrder, opCancel, opProbe:
	}
}

func (s *sqliteStore) lanes() int { return 1 } // SQLite has one writer at a time

func (s *sqliteStore) accept(ctx context.Context, _ int, ops []op) error {
	s.mu.Lock()
	folded := s.folded
	s.mu.Unlock()
	tx, err := s.intake.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.StmtContext(ctx, s.insert).ExecContext(ctx, opsJSON(ops))
	if err != nil {
		return err
	}
	n, err := result.LastInsertId()
	if err != nil {
		return err
	}
	if folded > 0 {
		if _, err := tx.StmtContext(ctx, s.forget).ExecContext(ctx, folded); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(n, ops)
	return nil
}

func (s *sqliteStore) unfolded(id uuid.UUID) (op, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.byID[id.String()]
	return o.op, ok
}

func (s *sqliteStore) claims() retrier  { return once{s.db.Writer} }
func (s *sqliteStore) lookups() retrier { return once{s.db.Reader} }

func (s *sqliteStore) ledger() pool { return pool{s.db.Writer, s.d} }
func (s *sqliteStore) reader() pool { return pool{s.db.Reader, s.d} }

func (s *sqliteStore) close() error { return errors.Join(s.statements.close(), s.intake.Close()) }
