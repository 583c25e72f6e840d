package inbox

import (
	"context"
	"database/sql"
)

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

// retrier runs fn, and may run it again after an error. So what fn does must be harmless to
// do twice, and fn may write to nothing outside itself: see queryRows. A test of
// internal/test/house keeps that.
type retrier interface {
	do(ctx context.Context, fn func(context.Context, rowQuerier) error) error
}

// once is a retrier that does not retry.
type once struct{ rowQuerier }

func (o once) do(ctx context.Context, fn func(context.Context, rowQuerier) error) error {
	return fn(ctx, o.rowQuerier)
}

// queryRows runs a query and scans every row into a value. If the query is retried, the rows
// of the tries before are dropped: with the rows of two tries, claims would take more
// handlers than there are.
func queryRows[T any](ctx context.Context, on retrier, query string, scan func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	err = on.do(ctx, func(ctx context.Context, q rowQuerier) error {
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		all, err = collect(rows, scan) // in place of what the last try has left
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
