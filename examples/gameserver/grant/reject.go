package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// ErrRejected is wrapped by the error for a dead payment that a person has rejected.
var ErrRejected = errors.New("grant: nothing is given for this payment")

// Reject gives nothing for a dead payment, for ever: you have paid it back, or given by hand
// what it was for. Handle refuses it from then on, so that a Retry at the same moment
// gives nothing either. Reviews are for inbox.Inbox.Reject.
func (b *Book) Reject(ctx context.Context, payment string, by inbox.Decision) error {
	if by.Actor == "" || by.Reason == "" {
		return errors.New("grant: say who decides, and why")
	}
	return b.inTx(ctx, func(tx *sql.Tx) error {
		var given bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM grants WHERE grant_key > $1 AND grant_key < $2)`, payment+":", payment+";").Scan(&given)
		if err == nil && given {
			err = fmt.Errorf("grant: %s: there are units of it already: see history", payment)
		}
		if err == nil {
			err = rejected(ctx, tx, payment)
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO grants_rejected (payment_id, at, actor, reason) VALUES ($1, $2, $3, $4)`, payment, now(), by.Actor, by.Reason)
		return err
	})
}

// rejected is an ErrRejected that says who rejected the payment, or nil if nobody did.
func rejected(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, payment string,
) error {
	var at int64
	var by inbox.Decision
	err := db.QueryRowContext(ctx, `SELECT at, actor, reason FROM grants_rejected WHERE payment_id = $1`, payment).Scan(&at, &by.Actor, &by.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("grant: the book cannot be read: %w", err)
	}
	return fmt.Errorf("%w: %s rejected it at %s: %s", ErrRejected, by.Actor, time.UnixMicro(at).UTC().Format(time.RFC3339), by.Reason)
}
