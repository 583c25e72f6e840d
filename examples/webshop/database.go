package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of --postgres

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
)

// database holds orders, stock and the inbox side by side, so that one transaction can
// change all of them.
type database struct {
	write, read *sql.DB       // the same pool on PostgreSQL
	ledger      *inbox.SQLite // nil on PostgreSQL
	close       func() error
}

//go:embed schema.sql
var schema string

// schemaLock and pollLock are advisory locks of PostgreSQL, by any numbers that nobody
// else uses in this database.
const (
	schemaLock = 7_281_905_001
	pollLock   = 7_281_905_002
)

// connections is the pool of one replica: the inbox takes up to 13 of them.
const connections = 24

// openDatabase opens the SQLite file, or PostgreSQL if address is set, and brings the
// shop's tables into being. Any number of replicas may do that at once.
func openDatabase(ctx context.Context, file, address string) (*database, error) {
	d, err := connect(file, address)
	if err != nil {
		return nil, err
	}
	if err := d.prepare(ctx); err != nil {
		_ = d.close()
		return nil, fmt.Errorf("webshop: prepare the tables: %w", err)
	}
	return d, nil
}

func connect(file, address string) (*database, error) {
	if address == "" {
		ledger, err := sqlite.Open(file, nil)
		if err != nil {
			return nil, err
		}
		return &database{ledger.Writer, ledger.Reader, ledger, ledger.Close}, nil
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("webshop: --postgres: write it as postgres://user@host/database") // without the value: it may hold a password
	}
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return nil, fmt.Errorf("webshop: --postgres: %w", err)
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return &database{pool, pool, nil, pool.Close}, nil
}

// fillLinks lists the links of orders that a version without pay_links has placed, which may
// run next to this one until all replicas are new. It reads all orders: about 0.2 s for
// 100,000, in a transaction of its own, since making an index keeps writers waiting to the end.
const fillLinks = `INSERT INTO pay_links (payment, order_id) SELECT pay_token, id FROM orders
	WHERE pay_token <> '' AND NOT EXISTS (SELECT 1 FROM pay_links WHERE payment = pay_token) ON CONFLICT DO NOTHING`

func (d *database) prepare(ctx context.Context) error {
	if err := d.prepareTables(ctx); err != nil {
		return err
	}
	return d.changeAlone(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, fillLinks)
		return err
	})
}

func (d *database) prepareTables(ctx context.Context) error {
	return d.changeAlone(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		for _, p := range catalogue {
			if _, err := tx.ExecContext(ctx, `INSERT INTO stock (product, count) VALUES ($1, $2) ON CONFLICT DO NOTHING`, p.ID, p.Stock); err != nil {
				return err
			}
		}
		return nil
	})
}

// changeAlone is change, with no other replica at it: CREATE … IF NOT EXISTS alone fails
// when two do it at once.
func (d *database) changeAlone(ctx context.Context, what func(*sql.Tx) error) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		if d.ledger == nil {
			if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(schemaLock)); err != nil {
				return err
			}
		}
		return what(tx)
	})
}

// change runs what in a transaction that is committed if it returns nil.
func (d *database) change(ctx context.Context, what func(*sql.Tx) error) error {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := what(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// all runs a query and scans every row.
func all[T any](ctx context.Context, db queryer, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
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
