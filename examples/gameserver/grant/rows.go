package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// State is the state of a unit.
type State string

// The states.
const (
	Pending  State = "pending"      // to be given; Reason says why not yet
	Granting State = "granting"     // the game is being asked
	Granted  State = "granted"      // the player has it
	Review   State = "needs review" // a person has to look; Reason says why
)

// Grant is one unit.
type Grant struct {
	Key, Account, Item string
	State              State
	Reason             string
	ChangedAt          time.Time // of the state, in UTC
}

const schema = `CREATE TABLE IF NOT EXISTS grants (
	grant_key TEXT PRIMARY KEY, payment_id TEXT NOT NULL, unit INTEGER NOT NULL, account TEXT NOT NULL,
	item TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, changed_at INTEGER NOT NULL, due_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS grants_open ON grants (state, account, due_at) WHERE state <> 'granted';
CREATE INDEX IF NOT EXISTS grants_account ON grants (account);
CREATE TABLE IF NOT EXISTS grants_decisions (
	key TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS grants_decisions_key ON grants_decisions (key);`

// Each condition repeats that the unit is open: SQLite uses a partial index for nothing else,
// and would read every unit that was ever granted.
const (
	sqlOpen = `state <> 'granted' AND `
	sqlDue  = sqlOpen + `state = 'pending' AND account > $1 AND due_at <= $2
		ORDER BY account, due_at, payment_id, unit LIMIT 1`
	sqlDefer = `UPDATE grants SET reason = $1, due_at = $2
		WHERE ` + sqlOpen + `state = 'pending' AND account = $3 AND due_at <= $4 AND ($5 = '' OR item = $5)`
	sqlJoined = `UPDATE grants SET reason = '', due_at = $1
		WHERE ` + sqlOpen + `state = 'pending' AND account = $2 AND due_at > $1`
	sqlRecover = `UPDATE grants SET state = $1, reason = $2, changed_at = $3, due_at = $3
		WHERE ` + sqlOpen + `state = 'granting'`
)

func (b *Book) query(ctx context.Context, where string, args ...any) (grants []Grant, err error) {
	const columns = `grant_key, account, item, state, reason, changed_at`
	statement := `SELECT ` + columns + ` FROM grants WHERE ` + where //nolint:gosec // where is a constant of this package
	rows, err := b.ledger.Reader.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("grant: reading the book: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var g Grant
		var changed int64
		if err := rows.Scan(&g.Key, &g.Account, &g.Item, &g.State, &g.Reason, &changed); err != nil {
			return nil, err
		}
		g.ChangedAt = time.UnixMicro(changed).UTC()
		grants = append(grants, g)
	}
	return grants, rows.Err()
}

// db is a *sql.DB or a *sql.Tx.
type db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// change runs a statement and returns how many rows it changed.
func change(ctx context.Context, to db, statement string, args ...any) (int64, error) {
	result, err := to.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("grant: writing the book: %w", err)
	}
	return result.RowsAffected()
}

// move changes the state of a unit if it is still from, and reports whether it was. A unit
// that is pending again after a call of the game waits.
func move(ctx context.Context, in db, key string, from, to State, reason string) (bool, error) {
	n, err := change(ctx, in, `UPDATE grants SET state = $3, reason = $4, changed_at = $5,
		due_at = CASE $2 WHEN 'granting' THEN $6 ELSE $5 END WHERE grant_key = $1 AND state = $2`,
		key, from, to, reason, now(), now()+retryEvery)
	return n == 1, err
}

// now is in microseconds, as all times of the tables.
func now() int64 { return time.Now().UnixMicro() }
