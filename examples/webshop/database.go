package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of --postgres

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
)

// database holds orders, stock and the inbox, so that one transaction can change all of them.
type database struct {
	write, read *sql.DB       // the same pool on PostgreSQL
	postgres    *sql.DB       // nil on SQLite
	sqlite      *inbox.SQLite // nil on PostgreSQL
	close       func() error
}

//go:embed schema.sql
var schema string

// Advisory locks of PostgreSQL: any two numbers that nothing else in this database uses.
const (
	schemaLock = 7_281_905_001
	pollLock   = 7_281_905_002
)

// openDatabase opens the SQLite file, or PostgreSQL if address is set, and creates the shop's tables.
// Any number of replicas may do that at once.
func openDatabase(ctx context.Context, file, address string) (*database, error) {
	d, err := connect(file, address)
	if err != nil {
		return nil, err
	}
	if err := d.change(ctx, d.createTables); err != nil {
		return nil, errors.Join(fmt.Errorf("webshop: create the tables: %w", err), d.close())
	}
	return d, nil
}

func connect(file, address string) (*database, error) {
	if address == "" {
		db, err := sqlite.Open(file, nil)
		if err != nil {
			return nil, err
		}
		return &database{db.Writer, db.Reader, nil, db, db.Close}, nil
	}
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(24) // the inbox takes up to 13 of them
	pool.SetMaxIdleConns(24)
	return &database{pool, pool, pool, nil, pool.Close}, nil
}

// createTables takes a lock first: CREATE … IF NOT EXISTS fails when two replicas run it at once.
func (d *database) createTables(ctx context.Context, tx *sql.Tx) error {
	if d.sqlite == nil {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(schemaLock)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	for _, p := range catalogue {
		insert := `INSERT INTO stock (product, count) VALUES ($1, $2) ON CONFLICT DO NOTHING`
		if _, err := tx.ExecContext(ctx, insert, p.ID, 500); err != nil {
			return err
		}
	}
	return nil
}

// change runs what in a transaction and commits it if what returns nil.
func (d *database) change(ctx context.Context, what func(context.Context, *sql.Tx) error) error {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := what(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// conn is a pool or a transaction.
type conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// changed runs a statement and reports whether it changed a row.
func changed(ctx context.Context, db conn, statement string, args ...any) (bool, error) {
	result, err := db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// all runs a query and scans every row.
func all[T any](ctx context.Context, db conn, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var found []T
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}
