package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Book is the ledger of units. Its methods may be called at once from many goroutines.
type Book struct {
	ledger    *inbox.SQLite
	catalogue *Catalogue
	running   atomic.Bool
	joins     atomic.Int64 // how often a player has joined
}

// Open creates missing tables in the ledger, which the inbox has too, and returns the Book.
// It starts nothing; see Run.
func Open(ctx context.Context, ledger *inbox.SQLite, catalogue *Catalogue) (*Book, error) {
	if _, err := ledger.Writer.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("grant: creating the tables: %w", err)
	}
	return &Book{ledger: ledger, catalogue: catalogue}, nil
}

// accountID is what the id of a player looks like. Players choose their display names, so
// anything else needs review.
var accountID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Handle writes the units of a payment through tx and does nothing else. It is the inbox's
// handler. A payment that cannot be matched moves to the dead-letter list with the reason.
func (b *Book) Handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if p.ID == uuid.Nil {
		return inbox.Cancel(fmt.Errorf("grant: the record of %q has no payment id: give the items by hand", p.Identifier))
	}
	if err := rejected(ctx, tx, p.ID.String()); errors.Is(err, ErrRejected) {
		return inbox.Cancel(err)
	} else if err != nil {
		return err
	}
	items, err := b.catalogue.bought(p)
	if err != nil {
		return inbox.Cancel(err)
	}
	state, reason := Pending, ""
	if !accountID.MatchString(p.Identifier) {
		state, reason = Review, "not an account id"
	}
	at := now()
	for i, item := range items {
		_, err := tx.ExecContext(ctx, `INSERT INTO grants VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING`,
			fmt.Sprintf("%s:%d", p.ID, i+1), p.ID.String(), i+1, p.Identifier, item, state, reason, at)
		if err != nil {
			return err
		}
	}
	return nil
}

// Joined makes the player's pending units due now. Call it when a player joins, and when one
// types /claim. It returns the number of units that waited, and does not wait for them.
func (b *Book) Joined(ctx context.Context, account string) (int64, error) {
	b.joins.Add(1)
	return change(ctx, b.ledger.Writer, sqlJoined, now(), account)
}
