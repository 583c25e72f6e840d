package inbox

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// pool is the ledger's pool. On PostgreSQL everything on it runs READ COMMITTED, whatever the default
// of the database or the role is: at a higher level the server rolls back transactions that conflict,
// and reads of the ledger would roll back the merchant's.
type pool struct {
	db *sql.DB
	d  *dialect
}

func (p pool) options(readOnly bool) *sql.TxOptions {
	if p.d.name == DialectSQLite {
		return nil // one writer, one level
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: readOnly}
}

// BeginTx begins a transaction; nil options mean the pool's own.
func (p pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	if opts == nil {
		opts = p.options(false)
	}
	return p.db.BeginTx(ctx, opts)
}

// statementTimeout bounds one statement on PostgreSQL that Run or a caller without a deadline waits
// for. A connection may go silent without closing: a firewall drops it, or the network partitions.
// Unbounded, the loop that waits for it would hang, and Run would never return.
const statementTimeout = 20 * time.Second

// ExecContext runs one statement, and again if the server rolled it back.
func (p pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx, cancel := p.bound(ctx)
	defer cancel()
	return p.execLong(ctx, query, args...)
}

// execLong is ExecContext for a statement that may take long.
func (p pool) execLong(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if p.d.name == DialectSQLite {
		return p.db.ExecContext(ctx, query, args...)
	}
	result, err := p.exec(ctx, query, args...)
	for undone := 0; isDeadlock(err) && undone < maxDeadlockRetries; undone++ {
		result, err = p.exec(ctx, query, args...)
	}
	return result, err
}

func (p pool) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tx, err := p.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return result, tx.Commit()
}

// QueryContext runs a read-only query. The caller must close the rows.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (*poolRows, error) {
	ctx, cancel := p.bound(ctx)
	return p.query(ctx, cancel, query, args...)
}

// queryLong is QueryContext for a query that may take long; only ctx ends it.
func (p pool) queryLong(ctx context.Context, query string, args ...any) (*poolRows, error) {
	return p.query(ctx, func() {}, query, args...)
}

// bound limits ctx to one statement's time. SQLite has no network, and a handler may hold its writer
// for longer.
func (p pool) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.d.name == DialectSQLite {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.d.limit)
}

func (p pool) query(ctx context.Context, cancel context.CancelFunc, query string, args ...any) (*poolRows, error) {
	if p.d.name == DialectSQLite {
		rows, err := p.db.QueryContext(ctx, query, args...)
		return &poolRows{Rows: rows}, err
	}
	tx, err := p.db.BeginTx(ctx, p.options(true))
	if err != nil {
		cancel()
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		_ = tx.Rollback()
		cancel()
		return nil, err
	}
	return &poolRows{Rows: rows, tx: tx, cancel: cancel}, nil
}

// QueryRowContext is QueryContext for one row.
func (p pool) QueryRowContext(ctx context.Context, query string, args ...any) poolRow {
	rows, err := p.QueryContext(ctx, query, args...)
	return poolRow{rows, err}
}

func (p pool) PingContext(ctx context.Context) error { return p.db.PingContext(ctx) }

// poolRows ends its transaction when it is closed.
type poolRows struct {
	*sql.Rows

	tx     *sql.Tx
	cancel context.CancelFunc
}

func (r *poolRows) Close() error {
	err := r.Rows.Close()
	if r.tx != nil {
		_ = r.tx.Rollback() // it is read-only
		r.cancel()
	}
	return err
}

type poolRow struct {
	rows *poolRows
	err  error
}

// Scan is that of sql.Row.
func (r poolRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	return r.rows.Scan(dest...)
}

// rowSet is *sql.Rows or *poolRows.
type rowSet interface {
	Next() bool
	Err() error
	Close() error
}

// each scans every row and closes rows. err is that of the query.
func each(rows rowSet, err error, scan func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	row, ok := rows.(*sql.Rows)
	if !ok {
		row = rows.(*poolRows).Rows
	}
	for rows.Next() {
		if err := scan(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect scans every row into a value, and closes rows.
func collect[T any](rows rowSet, scan func(*sql.Rows) (T, error)) (all []T, err error) {
	err = each(rows, nil, func(row *sql.Rows) error {
		v, err := scan(row)
		all = append(all, v)
		return err
	})
	return all, err
}

// rowQuerier runs a query; it is a connection or a pool.
type rowQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// retrier runs fn, and may run it again after an error. So fn must be idempotent and write nothing
// outside itself; see queryRows. A test of internal/test/house checks that.
type retrier interface {
	do(ctx context.Context, fn func(context.Context, rowQuerier) error) error
}

// once is a retrier that does not retry.
type once struct{ rowQuerier }

func (o once) do(ctx context.Context, fn func(context.Context, rowQuerier) error) error {
	return fn(ctx, o.rowQuerier)
}

// queryRows runs a query and scans every row into a value. If the query is retried, the rows of the
// failed tries are dropped: with the rows of two tries, a claim would take more handlers than are free.
func queryRows[T any](ctx context.Context, on retrier, query string, scan func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	err = on.do(ctx, func(ctx context.Context, q rowQuerier) error {
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		all, err = collect(rows, scan) // replaces the rows of a failed try
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

const lockTimeout = "55P03"

// isDeadlock reports whether the server rolled a transaction back because of another one: a deadlock
// or a serialization failure.
func isDeadlock(err error) bool { return hasState(err, "40P01") || hasState(err, "40001") }

func hasState(err error, want string) bool { return sqlState(err) == want }

// sqlState is PostgreSQL's code of the error; "" if it has none.
func sqlState(err error) string {
	var state interface{ SQLState() string } // of pgx and of lib/pq
	if !errors.As(err, &state) || len(state.SQLState()) != 5 {
		return ""
	}
	return state.SQLState()
}

// refusedData reports whether the database works but rejected the data of a statement: a data
// exception, a violated constraint, a limit.
func refusedData(err error) bool {
	state := sqlState(err)
	if state == "" {
		return false
	}
	switch state[:2] {
	case "22", "23", "54":
		return true
	}
	return false
}

// execer is a transaction or a connection.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// maxDeadlockRetries bounds how often a transaction that the server rolled back is repeated.
const maxDeadlockRetries = 10
