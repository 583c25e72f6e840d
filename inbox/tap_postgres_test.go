package inbox_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
)

// tap is a driver between the pool and pgx. It sees every statement.
type tap struct {
	driver.Connector

	// cutAfterRows is asked when a query that has returned rows is about to say that these
	// were all. If it returns true the connection is cut there.
	cutAfterRows func(query string, rows int) bool
}

// tapped is a pool on the database through tp.
func tapped(t *testing.T, dsn string, tp *tap) *sql.DB {
	t.Helper()
	var err error
	tp.Connector, err = stdlib.GetDefaultDriver().(driver.DriverContext).OpenConnector(dsn)
	require.NoError(t, err)
	db := sql.OpenDB(tp)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func (tp *tap) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := tp.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tapConn{Conn: c.(*stdlib.Conn), tap: tp}, nil
}

type tapConn struct {
	*stdlib.Conn

	tap *tap
}

func (c *tapConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &tapRows{Rows: rows, conn: c, query: query}, nil
}

type tapRows struct {
	driver.Rows

	conn  *tapConn
	query string
	n     int
}

func (r *tapRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	if err == nil {
		r.n++
	}
	if cut := r.conn.tap.cutAfterRows; err == io.EOF && cut != nil && cut(r.query, r.n) {
		_ = r.conn.Conn.Conn().PgConn().Conn().Close()
		return io.ErrUnexpectedEOF
	}
	return err
}
