package main

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// What the shop has to keep besides the inbox's tables and River's.
const schema = `CREATE TABLE IF NOT EXISTS fulfilments (
	payment_id text PRIMARY KEY,
	identifier text NOT NULL,
	worker     text NOT NULL,
	at         timestamptz NOT NULL DEFAULT now()
)`

// migrateLock lets processes that start at once create the tables one after another.
const migrateLock = 7_462_001

// migrate creates River's tables and the shop's; the inbox creates its own.
func migrate(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrateLock); err != nil {
		return err
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrateLock)
	}()
	if _, err := conn.ExecContext(ctx, schema); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
