package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// line is one line of a cart or an order.
type line struct {
	Product string
	Price   int64 // won, of one
	Count   int64
}

func (l line) Sum() int64 { return l.Price * l.Count }

// Name is what the product is called; its id, if it is not sold any more.
func (l line) Name(in lang) string {
	if p, ok := productByID(l.Product); ok {
		return p.Name(in)
	}
	return l.Product
}

func sum(lines []line) (total int64) {
	for _, l := range lines {
		total += l.Sum()
	}
	return total
}

// order is an order as the shop has it. Its id is a secret between shop and customer.
type order struct {
	ID, Status, Lang, PayToken string
	Contact                    string // for the back office alone: others may know the order's address
	SentBy                     string // who has sent the goods
	Total, Links               int64
	CreatedAt, Deadline        time.Time
	SentAt                     time.Time // the zero time before
	Lines                      []line
}

// Number is what people call the order.
func (o order) Number() string { return fmt.Sprintf("%.8s", o.ID) }

var errNoLink = errors.New("webshop: the order takes no further payment link")

// maxLinks is how many payments may be created for one order.
const maxLinks = 5

// place stores an order under an id that the cart's form has made, so that a form which is
// sent twice is one order.
func (s *shop) place(ctx context.Context, id uuid.UUID, lines []line, in lang, contact string) (order, error) {
	now := s.now()
	err := s.db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO orders (id, status, total, lang, created_at, deadline)
			VALUES ($1, 'open', $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			id.String(), sum(lines), in.String(), now.Unix(), now.Add(s.OrderLifetime).Unix())
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		for _, l := range lines {
			if _, err := tx.ExecContext(ctx, `INSERT INTO order_lines (order_id, product, price, count) VALUES ($1, $2, $3, $4)`,
				id.String(), l.Product, l.Price, l.Count); err != nil {
				return err
			}
		}
		return keepContact(ctx, tx, id.String(), contact)
	})
	if err != nil {
		return order{}, fmt.Errorf("webshop: place order %s: %w", id, err)
	}
	return s.order(ctx, id.String())
}

// payLink creates a payment for an open order; the order's page links to where it is paid.
func (s *shop) payLink(ctx context.Context, o order) error {
	result, err := s.db.write.ExecContext(ctx, `UPDATE orders SET links = links + 1 WHERE id = $1 AND status = 'open' AND links < $2`, o.ID, maxLinks)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errNoLink)
	}
	created, err := s.box.Create(ctx, o.request())
	if err != nil {
		return errors.Join(err, s.uncountLink(context.WithoutCancel(ctx), o.ID))
	}
	// The payment exists now: this is no time to give up with the customer's browser.
	return s.keepLink(context.WithoutCancel(ctx), o.ID, created.PayToken.String())
}

func (s *shop) keepLink(ctx context.Context, id, payToken string) error {
	return s.db.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO pay_links (payment, order_id) VALUES ($1, $2)`, payToken, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE orders SET pay_token = $2 WHERE id = $1`, id, payToken)
		return err
	})
}

// uncountLink takes back the count of a link that was not created: while the service is
// away, a customer may try as often as it takes.
func (s *shop) uncountLink(ctx context.Context, id string) error {
	_, err := s.db.write.ExecContext(ctx, `UPDATE orders SET links = links - 1 WHERE id = $1`, id)
	return err
}

func (o order) request() payments.CreateRequest {
	in := langOf(o.Lang)
	r := payments.CreateRequest{
		Title: text(in, "shop") + " " + o.Number(), Identifier: o.ID, Amount: payments.NewAmount(o.Total),
	}
	for _, l := range o.Lines {
		r.Items = append(r.Items, payments.Item{Name: l.Name(in), Price: payments.NewAmount(l.Price), Count: l.Count})
	}
	return r
}

// cancel ends an order that is not paid. Money that comes all the same is owed.
func (s *shop) cancel(ctx context.Context, id string) error {
	_, err := s.db.write.ExecContext(ctx, `UPDATE orders SET status = 'cancelled' WHERE id = $1 AND status = 'open'`, id)
	return err
}

const selectOrder = `SELECT id, status, lang, pay_token, total, links, created_at, deadline, coalesce(contact, ''),
	coalesce(sent_at, 0), coalesce(sent_by, '')
	FROM orders LEFT JOIN contacts ON contacts.order_id = id LEFT JOIN shipments ON shipments.order_id = id`

func scanOrder(rows *sql.Rows, o *order) error {
	var created, deadline, sent int64
	err := rows.Scan(&o.ID, &o.Status, &o.Lang, &o.PayToken, &o.Total, &o.Links, &created, &deadline, &o.Contact, &sent, &o.SentBy)
	o.CreatedAt, o.Deadline, o.SentAt = time.Unix(created, 0), time.Unix(deadline, 0), since(sent)
	return err
}

// order reads one order with its lines; the error is sql.ErrNoRows if there is none.
func (s *shop) order(ctx context.Context, id string) (order, error) {
	found, err := all(ctx, s.db.read, scanOrder, selectOrder+` WHERE id = $1`, id)
	if err != nil {
		return order{}, err
	}
	if len(found) == 0 {
		return order{}, sql.ErrNoRows
	}
	found[0].Lines, err = linesOf(ctx, s.db.read, id)
	return found[0], err
}

func (s *shop) status(ctx context.Context, id string) (status string, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT status FROM orders WHERE id = $1`, id).Scan(&status)
	return status, err
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func linesOf(ctx context.Context, q queryer, id string) ([]line, error) {
	return all(ctx, q, func(rows *sql.Rows, l *line) error { return rows.Scan(&l.Product, &l.Price, &l.Count) },
		`SELECT product, price, count FROM order_lines WHERE order_id = $1 ORDER BY product`, id)
}

// stock is how many of each product are left.
func (s *shop) stock(ctx context.Context) (map[string]int64, error) {
	type left struct {
		product string
		count   int64
	}
	rows, err := all(ctx, s.db.read, func(rows *sql.Rows, l *left) error { return rows.Scan(&l.product, &l.count) }, `SELECT product, count FROM stock`)
	counts := map[string]int64{}
	for _, l := range rows {
		counts[l.product] = l.count
	}
	return counts, err
}
