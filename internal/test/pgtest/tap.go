package pgtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
)

// Tap is between a pool and the driver; see Tapped.
type Tap struct {
	// Statement, if set, is called with each statement that is sent, and the isolation level
	// that its transaction has asked for: "" if it has not, or if there is no transaction.
	Statement func(text, isolation string)
	// CutAfterRows, if set, is asked when a query that has returned so many rows is about to
	// say that these were all. If it returns true the connection is cut there.
	CutAfterRows func(query string, rows int) bool

	driver.Connector
}

// Tapped is a pool on the database through tap.
func (d *Database) Tapped(t testing.TB, tap *Tap) *sql.DB {
	t.Helper()
	connector, err := stdlib.GetDefaultDriver().(driver.DriverContext).OpenConnector(d.DSN)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	tap.Connector = connector
	db := sql.OpenDB(tap)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return db
}

// Connect is that of driver.Connector.
func (tap *Tap) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := tap.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tapConn{Conn: c.(*stdlib.Conn), tap: tap}, nil
}

type tapConn struct {
	*stdlib.Conn

	tap       *Tap
	isolation string
}

func (c *tapConn) saw(query string) {
	level, begins := strings.CutPrefix(query, "BEGIN ISOLATION LEVEL ")
	if begins {
		c.isolation, _, _ = strings.Cut(level, ";")
	}
	if c.tap.Statement != nil {
		c.tap.Statement(query, c.isolation)
	}
	if query == "COMMIT" || query == "ROLLBACK" {
		c.isolation = ""
	}
}

func (c *tapConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.saw(query)
	return c.Conn.ExecContext(ctx, query, args)
}

func (c *tapConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.saw(query)
	rows, err := c.Conn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &tapRows{Rows: rows, conn: c, query: query}, nil
}

func (c *tapConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	level := strings.ToUpper(sql.IsolationLevel(opts.Isolation).String())
	if level == "DEFAULT" {
		level = ""
	}
	tx, err := c.Conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.isolation = level
	return &tapTx{tx, c}, nil
}

type tapTx struct {
	driver.Tx

	conn *tapConn
}

func (tx *tapTx) Commit() error {
	tx.conn.isolation = ""
	return tx.Tx.Commit()
}

func (tx *tapTx) Rollback() error {
	tx.conn.isolation = ""
	return tx.Tx.Rollback()
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
	if cut := r.conn.tap.CutAfterRows; errors.Is(err, io.EOF) && cut != nil && cut(r.query, r.n) {
		_ = r.conn.Conn.Conn().PgConn().Conn().Close()
		return io.ErrUnexpectedEOF
	}
	return err
}
