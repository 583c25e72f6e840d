package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Handle writes the grants of a payment through tx and does nothing else. It is the inbox's
// handler. A payment that the catalogue does not know goes among the dead, with the reason:
// add the product, then run it again (inbox.Inbox.Retry).
func (b *Book) Handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if p.ID == uuid.Nil {
		return inbox.Cancel(fmt.Errorf("grant: the record of %q names no payment, so a repeat could not be told from it: give the items by hand", p.Identifier))
	}
	if err := rejected(ctx, tx, p.ID.String()); errors.Is(err, ErrRejected) {
		return inbox.Cancel(err)
	} else if err != nil {
		return err
	}
	lines, err := b.cfg.Catalogue.lines(p)
	if err != nil {
		return inbox.Cancel(err)
	}
	account, state, reason := b.account(p)
	at := now()
	for i, l := range lines {
		for unit := 1; unit <= l.Count; unit++ {
			key := fmt.Sprintf("%s:%d:%d", p.ID, i+1, unit)
			_, err := tx.ExecContext(ctx, `INSERT INTO grants (grant_key, payment_id, line, unit, account, item, slots, state, reason, created_at, changed_at, due_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $10) ON CONFLICT DO NOTHING`,
				key, p.ID.String(), i+1, unit, account, l.Item, l.Slots, state, reason, at)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// notOfTheStore is the reason of units whose account is not one: it is an order's identifier.
const notOfTheStore = "the payment is not of the game store, and Config.AccountOf is not set"

// account tells whose payment it is. It never guesses.
func (b *Book) account(p payments.Payment) (account string, state State, reason string) {
	account = p.Identifier
	if p.Metadata.GameProduct == "" {
		if b.cfg.AccountOf == nil {
			return account, Review, notOfTheStore
		}
		account = b.cfg.AccountOf(p)
	}
	if !b.isAccount(account) {
		return account, Review, "this is not an account id"
	}
	return account, Pending, ""
}

func (b *Book) isAccount(text string) bool {
	return text != everybody && b.cfg.Account.MatchString(text)
}

// lines are what a payment pays for, with the units of each in Count.
func (c *Catalogue) lines(p payments.Payment) ([]Line, error) {
	if id := p.Metadata.GameProduct; id != "" {
		product, known := c.byID[id]
		if !known {
			return nil, fmt.Errorf("grant: the catalogue has no product with the id %q: add it, then run the payment again", id)
		}
		n, err := product.bought(p.PaidAmount)
		if err != nil {
			return nil, err
		}
		return product.units(nil, n)
	}
	counts := map[string]int64{} // a product may be there in several items
	for _, item := range p.Metadata.Items {
		if _, known := c.byName[item.Name]; !known {
			return nil, fmt.Errorf("grant: the catalogue has no product called %q: add it, then run the payment again", item.Name)
		}
		counts[item.Name] += min(max(1, item.Count), maxUnits+1)
	}
	var lines []Line
	for _, item := range p.Metadata.Items {
		if counts[item.Name] == 0 {
			continue // together with the first of them
		}
		product := c.byName[item.Name]
		var err error
		if lines, err = product.units(lines, counts[item.Name]); err != nil {
			return nil, err
		}
		counts[item.Name] = 0
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("grant: the payment %s names neither a product nor an item: give by hand what it was for", p.ID)
	}
	return lines, nil
}

// bought is how many products paid stands for. The inbox has compared it with the price; a
// person may have approved another amount, which pays for what it covers and one at least.
func (p *Product) bought(paid payments.Amount) (int64, error) {
	if !p.PerItem {
		return 1, nil
	}
	sum, ok1 := new(big.Rat).SetString(paid.String())
	price, ok2 := new(big.Rat).SetString(p.Price.String())
	if !ok1 || !ok2 {
		return 0, fmt.Errorf("grant: %s: the amount %s cannot be divided by the price %s", p.Name, paid, p.Price)
	}
	q := sum.Quo(sum, price)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	if !n.IsInt64() || n.Int64() > maxUnits {
		return 0, fmt.Errorf("grant: %s: %s pays for more than %d: give them by hand", p.Name, paid, maxUnits)
	}
	return max(1, n.Int64()), nil
}

// units appends the lines of n products.
func (p *Product) units(lines []Line, n int64) ([]Line, error) {
	for _, l := range p.Lines {
		count := int64(max(1, l.Count))
		if !l.OncePerOrder {
			if n > maxUnits || count*n > maxUnits {
				return nil, fmt.Errorf("grant: %s: %d of them are more than %d units of %s: give them by hand", p.Name, n, maxUnits, l.Item)
			}
			count *= n
		}
		l.Count = int(count)
		lines = append(lines, l)
	}
	return lines, nil
}
