package main

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
)

// town is a game in the same process: players join, carry up to four things, and drop them.
type town struct {
	db   *inbox.SQLite
	book *grant.Book
	say  func(format string, args ...any)

	mu     sync.Mutex
	online map[string]bool
	gave   atomic.Int64 // units
}

// The key of a unit is in the row of the thing, forever: so the game refuses it a second time.
const townSchema = `CREATE TABLE IF NOT EXISTS town_things (
	grant_key TEXT PRIMARY KEY, account TEXT NOT NULL, item TEXT NOT NULL, dropped BOOLEAN NOT NULL)`

// pockets is how many things a player can carry.
const pockets = 4

func openTown(ctx context.Context, db *inbox.SQLite, book *grant.Book, say func(string, ...any)) (*town, error) {
	_, err := db.Writer.ExecContext(ctx, townSchema)
	return &town{db: db, book: book, say: say, online: map[string]bool{}}, err
}

func (t *town) join(ctx context.Context, account string) error {
	t.mu.Lock()
	t.online[account] = true
	t.mu.Unlock()
	_, err := t.book.Joined(ctx, account)
	return err
}

// drop empties a pocket. The row stays, and the key with it.
func (t *town) drop(ctx context.Context, account, item string) error {
	_, err := t.db.Writer.ExecContext(ctx, `UPDATE town_things SET dropped = true WHERE grant_key =
		(SELECT grant_key FROM town_things WHERE item = $1 AND account = $2 AND NOT dropped LIMIT 1)`, item, account)
	return err
}

// Refuses: see Give.
func (t *town) Refuses() bool { return true }

// Give puts a thing into a pocket, with its key, in one transaction.
func (t *town) Give(ctx context.Context, d grant.Delivery) (grant.Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.online[d.Account] {
		return grant.Offline, nil
	}
	tx, err := t.db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return "", errors.Join(grant.ErrNotGiven, err)
	}
	answer, err := put(ctx, tx, d)
	if err != nil || answer != grant.Given {
		return answer, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return "", err
	}
	t.gave.Add(1)
	t.say("  %s gets: %s (%s)", d.Account, d.Item, d.Key)
	return grant.Given, nil
}

func put(ctx context.Context, tx *sql.Tx, d grant.Delivery) (grant.Answer, error) {
	var has, carried int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE grant_key = $1),
		count(*) FILTER (WHERE account = $2 AND NOT dropped) FROM town_things`, d.Key, d.Account).Scan(&has, &carried)
	switch {
	case err != nil:
		return "", err
	case has > 0:
		return grant.AlreadyGranted, nil
	case carried >= pockets:
		return grant.Full, nil
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO town_things VALUES ($1, $2, $3, false)`, d.Key, d.Account, d.Item)
	return grant.Given, err
}
