package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// AlreadyGrantedError is Resend's error for a unit that the player has.
type AlreadyGrantedError struct {
	Key string
	At  time.Time // UTC
	How string    // what the book says besides, such as who settled it by hand
}

// Error says when, and how.
func (e *AlreadyGrantedError) Error() string {
	text := fmt.Sprintf("%s was already granted at %s", e.Key, e.At.Format(time.RFC3339))
	if e.How != "" {
		text += " (" + e.How + ")"
	}
	return text
}

// Waiting are the units that the players do not have yet, the oldest first: pending,
// granting, claimable, needs review. At most limit; 0 is all.
func (b *Book) Waiting(ctx context.Context, limit int) ([]Grant, error) {
	if limit == 0 {
		limit = -1
	}
	return b.query(ctx, `state <> 'granted' ORDER BY created_at, grant_key LIMIT $1`, limit)
}

// History is all of an account, the newest first.
func (b *Book) History(ctx context.Context, account string) ([]Grant, error) {
	return b.query(ctx, `account = $1 ORDER BY created_at DESC, grant_key`, account)
}

// OfPayment is all of a payment.
func (b *Book) OfPayment(ctx context.Context, payment string) ([]Grant, error) {
	return b.query(ctx, `grant_key > $1 AND grant_key < $2 ORDER BY line, unit`, payment+":", payment+";")
}

// Get is one unit; ErrNoGrant if there is none.
func (b *Book) Get(ctx context.Context, key string) (Grant, error) {
	grants, err := b.query(ctx, `grant_key = $1`, key)
	if err == nil && len(grants) == 0 {
		err = fmt.Errorf("%w: %q", ErrNoGrant, key)
	}
	if err != nil {
		return Grant{}, err
	}
	return grants[0], nil
}

// Counts are the units in each state.
func (b *Book) Counts(ctx context.Context) (counts map[State]int, err error) {
	rows, err := b.cfg.SQLite.Reader.QueryContext(ctx, `SELECT state, count(*) FROM grants GROUP BY state`)
	if err != nil {
		return nil, fmt.Errorf("grant: the book cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[State]int{}
	for rows.Next() {
		var s State
		var n int
		if err := rows.Scan(&s, &n); err != nil {
			return nil, err
		}
		counts[s] = n
	}
	return counts, rows.Err()
}

// Resend gives a unit again, under the same key. One that the player has is an
// *AlreadyGrantedError. For one that needs review it is a decision: look whether the player
// has it before; if so, call Settle.
func (b *Book) Resend(ctx context.Context, key string, by inbox.Decision) error {
	g, err := b.Get(ctx, key)
	if err == nil && g.State != Granted && (!b.isAccount(g.Account) || g.Reason == notOfTheStore) {
		err = fmt.Errorf("grant: %s: %q is not an account id: give it by hand to whom it belongs, then settle it", key, g.Account)
	}
	if err != nil {
		return err
	}
	err = b.decide(ctx, key, "resend", by, Pending, "")
	if err == nil {
		b.Wake()
	}
	return err
}

// Settle marks a unit as granted, by the hand of a person who has seen to it.
func (b *Book) Settle(ctx context.Context, key string, by inbox.Decision) error {
	return b.decide(ctx, key, "settle", by, Granted, "settled by hand by "+by.Actor)
}

// decide changes a unit by hand, and keeps who did it and why.
func (b *Book) decide(ctx context.Context, key, action string, by inbox.Decision, to State, reason string) error {
	if by.Actor == "" || by.Reason == "" {
		return errors.New("grant: say who decides, and why")
	}
	g, err := b.Get(ctx, key)
	if err != nil {
		return err
	}
	switch g.State {
	case Granted:
		return &AlreadyGrantedError{Key: key, At: g.GrantedAt, How: g.Reason}
	case Granting:
		return fmt.Errorf("grant: %s is in the game's hands: try again in a moment", key)
	default:
	}
	return b.inTx(ctx, func(tx *sql.Tx) error {
		mine, err := b.moved(tx.ExecContext(ctx, `UPDATE grants SET state = $3, reason = $4, changed_at = $5, due_at = $5,
			granted_at = CASE WHEN $3 = 'granted' THEN $5 ELSE 0 END WHERE grant_key = $1 AND state = $2`, key, g.State, to, reason, now()))
		if err == nil && !mine {
			err = fmt.Errorf("grant: %s has changed meanwhile: look again", key)
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO grants_decisions (grant_key, at, action, actor, reason) VALUES ($1, $2, $3, $4, $5)`,
			key, now(), action, by.Actor, by.Reason)
		return err
	})
}
