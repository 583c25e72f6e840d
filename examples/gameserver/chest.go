package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
)

// chest is where the town keeps what players carry. The key of a unit stands next to the
// thing, in the same row, for ever: that is how the game refuses a second time.
type chest struct{ db *inbox.SQLite }

const chestSchema = `CREATE TABLE IF NOT EXISTS town_things (
	grant_key TEXT PRIMARY KEY, account TEXT NOT NULL, item TEXT NOT NULL, slots INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0)`

// pockets is how many slots a player has.
const pockets = 4

// Refuses: a key that is there is not given again, see Give.
func (t *town) Refuses() bool { return true }

// Player tells who is in town, and how many pockets are empty.
func (t *town) Player(ctx context.Context, account string) (grant.Player, error) {
	t.mu.Lock()
	online := t.online[account] != nil
	t.mu.Unlock()
	used, err := t.used(ctx, t.db.Reader, account)
	return grant.Player{Online: online, Free: pockets - used}, err
}

// Give puts a thing into a pocket, and its key next to it, in one transaction.
func (t *town) Give(ctx context.Context, d grant.Delivery) (answer grant.Answer, err error) {
	t.mu.Lock()
	here := t.online[d.Account]
	t.mu.Unlock()
	if here == nil {
		return grant.Offline, nil
	}
	tx, err := t.db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return "", errors.Join(grant.ErrNotGiven, err)
	}
	answer, err = t.put(ctx, tx, d)
	if err != nil || answer != grant.Given {
		return answer, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return "", err
	}
	here.say("You got: %s (%s)", d.Item, d.Key)
	return grant.Given, nil
}

func (t *town) put(ctx context.Context, tx *sql.Tx, d grant.Delivery) (grant.Answer, error) {
	var has bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM town_things WHERE grant_key = $1)`, d.Key).Scan(&has); err != nil || has {
		return grant.AlreadyGranted, err
	}
	used, err := t.used(ctx, tx, d.Account)
	if err != nil || pockets-used < d.Slots {
		return grant.Full, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO town_things (grant_key, account, item, slots) VALUES ($1, $2, $3, $4)`, d.Key, d.Account, d.Item, d.Slots)
	return grant.Given, err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (c chest) used(ctx context.Context, q querier, account string) (n int, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce(sum(slots), 0) FROM town_things WHERE account = $1 AND NOT dropped`, account).Scan(&n)
	return n, err
}

func (c chest) carried(ctx context.Context, account string) (things []string, err error) {
	rows, err := c.db.Reader.QueryContext(ctx, `SELECT item || ' (' || grant_key || ')' FROM town_things WHERE account = $1 AND NOT dropped ORDER BY 1`, account)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var item string
		if err := rows.Scan(&item); err != nil {
			return nil, err
		}
		things = append(things, item)
	}
	return things, rows.Err()
}

// drop empties a pocket. The row stays, and the key with it.
func (c chest) drop(ctx context.Context, account, key string) error {
	result, err := c.db.Writer.ExecContext(ctx, `UPDATE town_things SET dropped = 1 WHERE grant_key = $1 AND account = $2 AND NOT dropped`, key, account)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errors.New("you do not carry that"), err)
	}
	return nil
}
