package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/google/uuid"
)

const foldLines = 16 // groups in one fold

// fold applies what waits, in order, and the position with it: an op takes effect once.
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
		// One op may be the reason, and must not hold up the others for ever.
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
	position, err := s.position(ctx, s.statements.in(tx)) // a commit that failed may have happened all the same
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

// position is how far the ledger has the intake file.
func (s *sqliteStore) position(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, s.d.sql(sqlPosition), "folded "+s.file).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// applyOrKeep applies an op, or keeps it for a person if the ledger takes everything
// else but not this.
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
			return errors.Join(err, keepErr) // it is not the op: nothing can be written
		}
	}
	_, err = x.ExecContext(ctx, "RELEASE one")
	return err
}

// unstorable is what stands in review for something that cannot be written down as
// what it is.
func (s *sqliteStore) unstorable(text string, why error) op {
	id := "op-" + uuid.NewString()
	s.log.LogAttrs(context.Background(), slog.LevelError, "depositpay: something that was received cannot be written into the ledger; it is in review",
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
