package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

var (
	// ErrGranted is wrapped by the error of a decision about a unit that the player has.
	ErrGranted = errors.New("grant: already granted")
	// ErrRejected is wrapped by the error for a payment that a person has rejected.
	ErrRejected = errors.New("grant: nothing is given for this payment")
)

// Waiting returns the units that players do not have yet, at most limit; a negative limit
// returns all.
func (b *Book) Waiting(ctx context.Context, limit int) ([]Grant, error) {
	return b.query(ctx, sqlOpen+`true ORDER BY account, payment_id, unit LIMIT $1`, limit)
}

// OfAccount returns all units of a player.
func (b *Book) OfAccount(ctx context.Context, account string) ([]Grant, error) {
	return b.query(ctx, `account = $1 ORDER BY payment_id, unit`, account)
}

// OfPayment returns all units of a payment.
func (b *Book) OfPayment(ctx context.Context, payment string) ([]Grant, error) {
	return b.query(ctx, `grant_key > $1 AND grant_key < $2 ORDER BY unit`, payment+":", payment+";")
}

// Decisions returns what was decided about a payment and its units, oldest first.
func (b *Book) Decisions(ctx context.Context, payment string) (all []inbox.AuditLine, err error) {
	rows, err := b.ledger.Reader.QueryContext(ctx, `SELECT action || ' ' || key, at, actor, reason
		FROM grants_decisions WHERE key >= $1 AND key < $2 ORDER BY at`, payment, payment+";")
	if err != nil {
		return nil, fmt.Errorf("grant: reading the book: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d inbox.AuditLine
		var at int64
		if err := rows.Scan(&d.Action, &at, &d.Decision.Actor, &d.Decision.Reason); err != nil {
			return nil, err
		}
		d.At = time.UnixMicro(at).UTC()
		all = append(all, d)
	}
	return all, rows.Err()
}

// Retry gives a unit again, under the same key. For one that needs review this is a decision:
// check first whether the player has it, and if so call Settle.
func (b *Book) Retry(ctx context.Context, key string, by inbox.Decision) error {
	return b.decide(ctx, key, "retry", by, Pending)
}

// Settle marks a unit as granted that a person gave by hand, or will not give.
func (b *Book) Settle(ctx context.Context, key string, by inbox.Decision) error {
	return b.decide(ctx, key, "settle", by, Granted)
}

// decide changes an open unit by hand, and records who decided and why.
func (b *Book) decide(ctx context.Context, key, action string, by inbox.Decision, to State) error {
	found, err := b.query(ctx, `grant_key = $1`, key)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("grant: no unit has the key %q", key)
	}
	g := found[0]
	switch {
	case g.State == Granted:
		return fmt.Errorf("%w: %s at %s %s", ErrGranted, key, g.ChangedAt.Format(time.RFC3339), g.Reason)
	case g.State == Granting:
		return fmt.Errorf("grant: the game is being asked for %s: try again in a moment", key)
	case to == Pending && !accountID.MatchString(g.Account):
		return fmt.Errorf("grant: %s: %q is not an account id: find the buyer, give it by hand, then settle it", key, g.Account)
	}
	return b.record(ctx, key, action, by, func(tx *sql.Tx) error {
		moved, err := move(ctx, tx, key, g.State, to, action+" by "+by.Actor)
		if err == nil && !moved {
			return fmt.Errorf("grant: %s has changed in the meantime: look at it again", key)
		}
		return err
	})
}

// Reject gives nothing for a dead-letter payment, forever: it was paid back, or given by
// hand. Handle refuses it from then on, so a retry at the same moment gives nothing either.
// Payments in review are for inbox.Inbox.Reject.
func (b *Book) Reject(ctx context.Context, payment string, by inbox.Decision) error {
	return b.record(ctx, payment, "reject", by, func(tx *sql.Tx) error {
		var units int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM grants WHERE grant_key > $1 AND grant_key < $2`,
			payment+":", payment+";").Scan(&units)
		if err == nil && units > 0 {
			return fmt.Errorf("grant: %s has units already: settle these", payment)
		}
		return errors.Join(err, rejected(ctx, tx, payment))
	})
}

// record runs decide and keeps the decision, in one transaction.
func (b *Book) record(ctx context.Context, key, action string, by inbox.Decision, decide func(tx *sql.Tx) error) error {
	if by.Actor == "" || by.Reason == "" {
		return fmt.Errorf("grant: %s %s: a decision needs an actor and a reason", action, key)
	}
	tx, err := b.ledger.Writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("grant: %s %s: %w", action, key, err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := decide(tx); err != nil {
		return err
	}
	const statement = `INSERT INTO grants_decisions VALUES ($1, $2, $3, $4, $5)`
	if _, err := change(ctx, tx, statement, key, now(), action, by.Actor, by.Reason); err != nil {
		return err
	}
	return tx.Commit()
}

// rejected returns an ErrRejected that says who rejected the payment, or nil if nobody did.
func rejected(ctx context.Context, in db, payment string) error {
	var by inbox.Decision
	const statement = `SELECT actor, reason FROM grants_decisions WHERE key = $1 AND action = 'reject'`
	row := in.QueryRowContext(ctx, statement, payment)
	switch err := row.Scan(&by.Actor, &by.Reason); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("grant: reading the book: %w", err)
	}
	return fmt.Errorf("%w: %s rejected it: %s", ErrRejected, by.Actor, by.Reason)
}
