package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrPooler is wrapped by Open's error if a pooler stands between Config.DB and PostgreSQL
// with which the inbox cannot work.
var ErrPooler = errors.New("inbox: the connection pooler does not fit")

// poolerTimeout bounds what checkPooler waits for.
const poolerTimeout = 5 * time.Second

// checkPooler runs one statement in transactions of two connections so that a pooler which
// lends a server's session for one transaction must run it in a session that another
// connection has used, or in one that the same connection has not. Nothing that the inbox
// does itself minds; prepared statements of the driver, which it keeps by name, do.
func checkPooler(ctx context.Context, a, b *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	const query = "SELECT length($1::text)"
	for range 2 { // a pooler that takes its sessions in turn lends another one
		if err := runHeld(ctx, a, query, nil); err != nil {
			return poolerError(err)
		}
	}
	// A pooler that lends the session that was used last lends a's to b, and a another one.
	return poolerError(runHeld(ctx, b, query, func() error { return runHeld(ctx, a, query, nil) }))
}

// runHeld runs a query in a transaction, and meanwhile before the end of that transaction.
func runHeld(ctx context.Context, c *sql.Conn, query string, meanwhile func() error) error {
	tx, err := c.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var n int
	if err := tx.QueryRowContext(ctx, query, "probe").Scan(&n); err != nil {
		return err
	}
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func poolerError(err error) error {
	switch {
	case err == nil:
		return nil
	case hasState(err, "42P05"), hasState(err, "26000"): // it is there already, it is not there
		return fmt.Errorf("%w: it lends sessions for one transaction (PgBouncer: pool_mode = transaction) and the driver keeps prepared statements in them; "+
			"set default_query_exec_mode=exec (or simple_protocol) in pgx's connection string, or use session pooling or a direct connection: %w", ErrPooler, err)
	case strings.Contains(err.Error(), "statement pooling"):
		return fmt.Errorf("%w: it allows no transactions (PgBouncer: pool_mode = statement); "+
			"use transaction or session pooling, or a direct connection: %w", ErrPooler, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: two transactions at once were not let through within %v; "+
			"raise the pooler's pool size (PgBouncer: default_pool_size), or use a direct connection: %w", ErrPooler, poolerTimeout, err)
	}
	return fmt.Errorf("inbox: Config.DB: %w", err)
}
