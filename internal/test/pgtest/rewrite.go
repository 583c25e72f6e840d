package pgtest

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/stdlib"
)

// Rewriting is a connector of pgx whose connections pass each statement through a
// function before they send it. Tests break statements so, or hold them up, without a hook
// in what they test. Nil does nothing.
type Rewriting struct {
	driver.Connector
	Query, Exec func(statement string) string
}

// Connect gives such a connection.
func (r Rewriting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &rewriting{conn.(*stdlib.Conn), r}, nil
}

type rewriting struct {
	*stdlib.Conn
	by Rewriting
}

func (c *rewriting) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.by.Query != nil {
		query = c.by.Query(query)
	}
	return c.Conn.QueryContext(ctx, query, args)
}

func (c *rewriting) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.by.Exec != nil {
		query = c.by.Exec(query)
	}
	return c.Conn.ExecContext(ctx, query, args)
}
