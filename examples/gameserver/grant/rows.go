package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// everybody is moveAll's account for all of them. No player has it, see Book.isAccount.
const everybody = ""

// State is where a unit stands.
type State string

// The states.
const (
	Pending   State = "pending"      // to be given
	Granting  State = "granting"     // in the game's hands
	Granted   State = "granted"      // the player has it
	Claimable State = "claimable"    // in the claim box; Reason says why
	Review    State = "needs review" // a person has to look; Reason says why
)

// Grant is one unit as the book has it. Times are in UTC.
type Grant struct {
	Key, Payment, Account, Item string
	Line, Unit, Slots           int
	State                       State
	Reason                      string
	// Attempts is how often the game was asked to give it.
	Attempts             int
	CreatedAt, ChangedAt time.Time
	// GrantedAt is the zero time until the player has it.
	GrantedAt time.Time
}

// ErrNoGrant is the error for a key that the book does not have.
var ErrNoGrant = errors.New("grant: no such grant")

const columns = `grant_key, payment_id, line, unit, account, item, slots, state, reason, attempts, created_at, changed_at, granted_at`

func (b *Book) query(ctx context.Context, where string, args ...any) (grants []Grant, err error) {
	rows, err := b.cfg.SQLite.Reader.QueryContext(ctx, `SELECT `+columns+` FROM grants WHERE `+where, args...) //nolint:gosec // where is a constant of this package
	if err != nil {
		return nil, fmt.Errorf("grant: the book cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var g Grant
		var created, changed, granted int64
		if err := rows.Scan(&g.Key, &g.Payment, &g.Line, &g.Unit, &g.Account, &g.Item, &g.Slots, &g.State, &g.Reason,
			&g.Attempts, &created, &changed, &granted); err != nil {
			return nil, err
		}
		g.CreatedAt, g.ChangedAt = time.UnixMicro(created).UTC(), time.UnixMicro(changed).UTC()
		if granted != 0 {
			g.GrantedAt = time.UnixMicro(granted).UTC()
		}
		grants = append(grants, g)
	}
	return grants, rows.Err()
}

// move changes one unit, if it is still in the state from. due is when a pending one is to
// be given.
func (b *Book) move(ctx context.Context, key string, from, to State, reason string, due time.Time) (bool, error) {
	return b.moved(b.cfg.SQLite.Writer.ExecContext(ctx, `UPDATE grants SET state = $3, reason = $4, changed_at = $5, due_at = $6,
		attempts = attempts + ($3 = 'granting'), granted_at = CASE WHEN $3 = 'granted' THEN $5 ELSE 0 END
		WHERE grant_key = $1 AND state = $2`, key, from, to, reason, now(), due.UnixMicro()))
}

// The statements below say that a unit is open, next to its state: SQLite takes an index with
// a condition for nothing else, and reads the whole book.
const (
	sqlDue   = sqlOpen + `state = 'pending' AND due_at <= $1 AND account NOT IN (SELECT value FROM json_each($2)) ORDER BY due_at LIMIT 1`
	sqlDueTo = sqlOpen + `state = 'pending' AND account = $1 AND due_at <= $2 ORDER BY due_at, payment_id, line, unit LIMIT $3`
	sqlInBox = sqlOpen + `state = 'claimable' AND account > $1
		AND slots = (SELECT min(slots) FROM grants m WHERE m.state <> 'granted' AND m.state = 'claimable' AND m.account = grants.account)
		GROUP BY account ORDER BY account LIMIT $2`
	sqlMoveAll = `UPDATE grants SET state = $2, reason = $3, changed_at = $4, due_at = $4 WHERE ` + sqlOpen + `state = $1`
	sqlPutOff  = `UPDATE grants SET reason = $2, changed_at = $3, due_at = max(due_at, $4) WHERE ` + sqlOpen + `state = 'pending' AND account = $1`
	sqlOpen    = `state <> 'granted' AND `
)

// moveAll changes all units that are in the state from, of one account or of everybody.
func (b *Book) moveAll(ctx context.Context, account string, from, to State, reason string) (int, error) {
	statement, args := sqlMoveAll, []any{from, to, reason, now()}
	if account != everybody {
		statement, args = statement+` AND account = $5`, append(args, account)
	}
	result, err := b.cfg.SQLite.Writer.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("grant: the book cannot be written: %w", err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// putOff makes what an account has pending due later.
func (b *Book) putOff(ctx context.Context, account, reason string, due time.Time) error {
	_, err := b.cfg.SQLite.Writer.ExecContext(ctx, sqlPutOff, account, reason, now(), due.UnixMicro())
	if err != nil {
		return fmt.Errorf("grant: the book cannot be written: %w", err)
	}
	return nil
}

func (b *Book) moved(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, fmt.Errorf("grant: the book cannot be written: %w", err)
	}
	n, err := result.RowsAffected()
	return n == 1, err
}
