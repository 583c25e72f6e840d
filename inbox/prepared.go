package inbox

import (
	"context"
	"database/sql"
	"errors"
)

// prepared are statements of a pool with one connection. SQLite parses a statement
// again each time it is sent as text, which costs more than to run it.
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

// in is the transaction, with its statements taken from p where they are there.
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
