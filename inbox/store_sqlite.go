package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"github.com/google/uuid"
)

// sqliteStore writes ops to the intake file, with one sync per group, and folds them into the ledger
// when the ledger's only writer is free. A handler's open transaction is that writer, so an
// acceptance never waits for a handler.
type sqliteStore struct {
	applier
	db     SQLite
	intake *sql.Conn
	insert *sql.Stmt
	forget *sql.Stmt

	statements prepared // of the fold
	log        *slog.Logger
	file       string // the id of the intake file: a position is valid for one file only

	mu      sync.Mutex
	waiting []line                // durable, not folded, in order
	byID    map[string]unfoldedOp // of waiting; see unfolded
	held    int                   // approximate bytes of waiting
	folding sync.Mutex
	folded  int64 // position in the intake file
}

// line is one line of the intake file: a group of ops that became durable together.
type line struct {
	n   int64
	ops []op
}

// size is the approximate memory that a line takes.
func (l line) size() (n int) {
	for _, o := range l.ops {
		n += 300 + len(o.Body) + len(o.Items)
	}
	return n
}

// Ops that wait for the fold are in memory, so they are bounded: a handler may hold the ledger's only
// writer for half a minute. Hints are unknown ids and may not take the room that records need.
const (
	maxHeld      = 128 << 20
	maxHeldHints = maxHeld / 4
)

var errBehind = errors.New("inbox: the ledger is behind: too many acceptances wait for its only writer, which a slow handler may hold; try again later")

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

// load reads what an earlier process accepted and did not fold.
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

// remember adds a group to the waiting ones. The caller holds s.mu unless it has the store alone.
func (s *sqliteStore) remember(n int64, ops []op) {
	added := line{n, ops}
	s.waiting = append(s.waiting, added)
	s.held += added.size()
	for _, o := range ops {
		s.index(n, o)
	}
}

// unfoldedOp is an op that unfolded returns, with the number of its line.
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

const foldLines = 16 // groups in one fold

// fold applies waiting ops in order, in one transaction with the position: each takes effect once.
func (s *sqliteStore) fold(ctx context.Context) (bool, error) {
	s.folding.Lock()
	defer s.folding.Unlock()
	s.mu.Lock()
	batch := s.waiting[:min(len(s.waiting), foldLines)]
	s.mu.Unlock()
	if len(batch) == 0 {
		return false, nil
	}
	if err := s.foldWith(ctx, batch, s.apply); err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		// A single op may be the cause, and must not block the others for ever.
		if again := s.foldWith(ctx, batch, s.applyOrKeep); again != nil {
			return false, again
		}
	}
	s.forgetFolded(batch)
	return true, nil
}

// foldWith applies a batch in one transaction.
func (s *sqliteStore) foldWith(ctx context.Context, batch []line, apply func(context.Context, execer, op) error) error {
	tx, err := s.db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	position, err := s.position(ctx, s.statements.in(tx)) // a commit that returned an error may have succeeded
	if err != nil {
		return err
	}
	for _, line := range batch {
		if line.n <= position {
			continue
		}
		for _, o := range line.ops {
			if err := apply(ctx, s.statements.in(tx), o); err != nil {
				return fmt.Errorf("%s of %s: %w", o.Kind, o.ID, err)
			}
		}
	}
	last := strconv.FormatInt(batch[len(batch)-1].n, 10)
	if _, err := tx.ExecContext(ctx, s.d.sql(sqlSetMeta), "folded "+s.file, last); err != nil {
		return err
	}
	return s.hook.after(stepFolded, tx.Commit())
}

const sqlPosition = `SELECT CAST(value AS INTEGER) FROM {p}meta WHERE name = ?1`

// position is the last line of the intake file that the ledger has.
func (s *sqliteStore) position(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, s.d.sql(sqlPosition), "folded "+s.file).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// applyOrKeep applies an op, or puts it into review if the ledger rejects just this op.
func (s *sqliteStore) applyOrKeep(ctx context.Context, x execer, o op) error {
	if _, err := x.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	err := s.apply(ctx, x, o)
	if err != nil {
		if _, undo := x.ExecContext(ctx, "ROLLBACK TO one"); undo != nil {
			return errors.Join(err, undo)
		}
		if keepErr := s.apply(ctx, x, s.unstorable(string(o.appendJSON(nil)), err)); keepErr != nil {
			return errors.Join(err, keepErr) // nothing can be written: the op is not the cause
		}
	}
	_, err = x.ExecContext(ctx, "RELEASE one")
	return err
}

// unstorable is the op that puts something the ledger rejects into review.
func (s *sqliteStore) unstorable(text string, why error) op {
	id := "op-" + uuid.NewString()
	s.log.LogAttrs(context.Background(), slog.LevelError, "depositpay: the ledger rejects something that was received; it is in review",
		slog.String("key", id), slog.Any("error", why))
	return op{Kind: opReview, ID: id, Body: storable(text), Reason: ReasonUnstorable}
}

func (s *sqliteStore) forgetFolded(batch []line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folded = batch[len(batch)-1].n
	s.waiting = append([]line(nil), s.waiting[len(batch):]...)
	for _, line := range batch {
		s.held -= line.size()
		for _, o := range line.ops {
			if s.byID[o.ID].n <= s.folded {
				delete(s.byID, o.ID)
			}
		}
	}
}

// prepared are statements of a pool with one connection. SQLite parses a statement each time it is
// sent as text, which costs more than running it.
type prepared map[string]*sql.Stmt

func prepare(ctx context.Context, db *sql.DB, statements ...string) (prepared, error) {
	p := make(prepared, len(statements))
	for _, text := range statements {
		s, err := db.PrepareContext(ctx, text)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p[text] = s
	}
	return p, nil
}

func (p prepared) close() error {
	var errs []error
	for _, s := range p {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// in is the transaction with the statements of p prepared.
func (p prepared) in(tx *sql.Tx) execer { return preparedTx{tx, p} }

type preparedTx struct {
	tx *sql.Tx
	p  prepared
}

func (t preparedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if s, ok := t.p[query]; ok {
		return t.tx.StmtContext(ctx, s).ExecContext(ctx, args...)
	}
	return t.tx.ExecContext(ctx, query, args...)
}

func (t preparedTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s, ok := t.p[query]; ok {
		return t.tx.StmtContext(ctx, s).QueryRowContext(ctx, args...)
	}
	return t.tx.QueryRowContext(ctx, query, args...)
}
