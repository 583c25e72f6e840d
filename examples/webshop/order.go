package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// line is one product of an order.
type line struct {
	Product string
	Price   int64 // won, of one
	Count   int64
}

// Sum returns the price of all of them.
func (l line) Sum() int64 { return l.Price * l.Count }

// order is an order. Its id is a secret between the shop and the customer.
type order struct {
	ID, Status, Lang    string
	Total               int64
	CreatedAt, Deadline int64
	Lines               []line
}

// Number returns what people call the order.
func (o order) Number() string { return fmt.Sprintf("%.8s", o.ID) }

// place stores an order. The order form has made the id, so a form that is sent twice is one order.
func (s *shop) place(ctx context.Context, id string, lines []line, in lang) (order, error) {
	var total int64
	for _, l := range lines {
		total += l.Sum()
	}
	now := s.now()
	err := s.db.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		placed, err := changed(ctx, tx, `INSERT INTO orders (id, status, total, lang, created_at, deadline)
			VALUES ($1, 'open', $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			id, total, in.String(), now.Unix(), now.Add(s.OrderLifetime).Unix())
		if err != nil || !placed {
			return err
		}
		for _, l := range lines {
			insert := `INSERT INTO order_lines (order_id, product, price, count) VALUES ($1, $2, $3, $4)`
			if _, err := tx.ExecContext(ctx, insert, id, l.Product, l.Price, l.Count); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return order{}, fmt.Errorf("webshop: place order %s: %w", id, err)
	}
	return s.order(ctx, id)
}

// order reads one order with its lines. The error is errNotFound if there is none.
func (s *shop) order(ctx context.Context, id string) (order, error) {
	if !isUUID(id) {
		return order{}, errNotFound
	}
	o := order{ID: id}
	query := `SELECT status, lang, total, created_at, deadline FROM orders WHERE id = $1`
	err := s.db.read.QueryRowContext(ctx, query, id).Scan(&o.Status, &o.Lang, &o.Total, &o.CreatedAt, &o.Deadline)
	if errors.Is(err, sql.ErrNoRows) {
		return o, errNotFound
	}
	if err != nil {
		return o, err
	}
	o.Lines, err = linesOf(ctx, s.db.read, id)
	return o, err
}

// isUUID reports whether s is a UUID as this program writes them. PostgreSQL refuses some other texts.
func isUUID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

func linesOf(ctx context.Context, db conn, id string) ([]line, error) {
	scan := func(rows *sql.Rows, l *line) error { return rows.Scan(&l.Product, &l.Price, &l.Count) }
	return all(ctx, db, scan, `SELECT product, price, count FROM order_lines WHERE order_id = $1 ORDER BY product`, id)
}

// stock returns how many of each product are left.
func (s *shop) stock(ctx context.Context) (map[string]int64, error) {
	scan := func(rows *sql.Rows, l *line) error { return rows.Scan(&l.Product, &l.Count) }
	rows, err := all(ctx, s.db.read, scan, `SELECT product, count FROM stock`)
	left := map[string]int64{}
	for _, l := range rows {
		left[l.Product] = l.Count
	}
	return left, err
}

// payLink is a payment that was created for an order, with its state in the inbox.
type payLink struct {
	N         int
	Payment   string // empty until the service has created it
	CreatedAt int64
	Entry     inbox.Entry
}

// addLink creates the payment number n of an open order. A form that is sent twice has the same n, so a
// double click creates one payment. The browser may leave meanwhile: a payment that exists is kept.
func (s *shop) addLink(ctx context.Context, o order, n int) error {
	ctx = context.WithoutCancel(ctx)
	claimed, err := changed(ctx, s.db.write, `INSERT INTO pay_links (order_id, n, created_at)
		SELECT id, $2, $3 FROM orders WHERE id = $1 AND status = 'open' ON CONFLICT DO NOTHING`, o.ID, n, s.now().Unix())
	if err != nil || !claimed {
		return err
	}
	created, err := s.box.Create(ctx, o.request())
	if err != nil {
		_, undo := changed(ctx, s.db.write, `DELETE FROM pay_links WHERE order_id = $1 AND n = $2`, o.ID, n)
		return errors.Join(err, undo)
	}
	_, err = changed(ctx, s.db.write, `UPDATE pay_links SET payment = $3 WHERE order_id = $1 AND n = $2`,
		o.ID, n, created.PayToken.String())
	return err
}

// links reads the payments of an order. Each is looked up by its id, which is quick in a large inbox.
func (s *shop) links(ctx context.Context, id string) ([]payLink, error) {
	scan := func(rows *sql.Rows, l *payLink) error { return rows.Scan(&l.N, &l.Payment, &l.CreatedAt) }
	query := `SELECT n, payment, created_at FROM pay_links WHERE order_id = $1 ORDER BY n`
	links, err := all(ctx, s.db.read, scan, query, id)
	if err != nil {
		return nil, err
	}
	for i, l := range links {
		links[i].Entry, err = s.box.Get(ctx, l.Payment)
		if err != nil && !errors.Is(err, inbox.ErrNotFound) {
			return nil, err
		}
	}
	return links, nil
}

// request describes the order to the service. The inbox compares payments with it.
func (o order) request() payments.CreateRequest {
	in := langOf(o.Lang)
	r := payments.CreateRequest{
		Title: text(in, "shop") + " " + o.Number(), Identifier: o.ID, Amount: payments.NewAmount(o.Total),
	}
	for _, l := range o.Lines {
		price := payments.NewAmount(l.Price)
		r.Items = append(r.Items, payments.Item{Name: text(in, l.Product), Price: price, Count: l.Count})
	}
	return r
}
