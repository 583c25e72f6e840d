package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// officePage is how many orders one page shows.
const officePage = 50

// place is where a list of orders goes on: behind the row with this time and key.
type place struct {
	At  int64
	Key string
}

func (p place) String() string { return fmt.Sprintf("%d.%s", p.At, p.Key) }

// listed is an order in a list, and its place there.
type listed struct {
	place
	OrderID string
}

func scanListed(rows *sql.Rows, l *listed) error { return rows.Scan(&l.At, &l.Key, &l.OrderID) }

// Orders without money are placed by anybody, without limit. So they have a list of their
// own, and cannot push those with money off the page.
const (
	// selectFunded are the orders with money on the books, by the newest of it.
	selectFunded = `SELECT d.verified_at, d.payment, d.order_id FROM deposits d
		WHERE (d.verified_at, d.payment) < ($1, $2) AND EXISTS (SELECT 1 FROM orders o WHERE o.id = d.order_id)
		AND NOT EXISTS (SELECT 1 FROM deposits n WHERE n.order_id = d.order_id AND (n.verified_at, n.payment) > (d.verified_at, d.payment))
		ORDER BY d.verified_at DESC, d.payment DESC LIMIT $3`
	selectEvery = `SELECT created_at, id, id FROM orders WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3`
	// selectPaidBy are the orders of payments.
	selectPaidBy = `SELECT created_at, id, id FROM orders WHERE id IN (SELECT order_id FROM pay_links WHERE payment IN {payments}) ORDER BY created_at DESC, id DESC`
	countOwed    = `SELECT count(*) FROM deposits WHERE give_back > 0 AND returned_at = 0`
)

// officeView is the first page of the back office.
type officeView struct {
	Orders               []orderView
	Review, Failed, Owed int64
	Every                bool   // the orders without money, too
	Search               string // what was looked for; then these orders alone
	Further              bool   // this is not the beginning of the list
	Next                 string // where it goes on; empty at its end
}

// Heading is the key of the text above the list.
func (v officeView) Heading() string {
	switch {
	case v.Search != "":
		return "office.found"
	case v.Every:
		return "office.all"
	}
	return "office.funded"
}

// At is the address of the same list behind a place; from its beginning, if that is empty.
func (v officeView) At(before string) string {
	query := url.Values{}
	if v.Every {
		query.Set("show", "all")
	}
	if before != "" {
		query.Set("before", before)
	}
	return (&url.URL{Path: "/office", RawQuery: query.Encode()}).String()
}

// showOffice lists the orders with money, or all, the newest first.
func (s *shop) showOffice(w http.ResponseWriter, r *http.Request, actor string) error {
	from, err := placeOf(r)
	if err != nil {
		return err
	}
	data := officeView{Every: r.URL.Query().Get("show") == "all", Further: from.At != math.MaxInt64, Search: search(r)}
	failed, err := s.countTasks(r.Context(), &data)
	if err != nil {
		return err
	}
	found, err := s.listOrders(r.Context(), &data, from, failed)
	if err != nil {
		return err
	}
	for _, id := range found {
		o, err := s.order(r.Context(), id)
		if err != nil {
			return err
		}
		seen, err := s.look(r.Context(), o)
		if err != nil {
			return err
		}
		data.Orders = append(data.Orders, seen)
	}
	s.render(w, http.StatusOK, s.officeView(r, "office", actor, data))
	return nil
}

// countTasks counts what waits for a person, and returns the payments that have failed.
func (s *shop) countTasks(ctx context.Context, data *officeView) (failed []inbox.Entry, err error) {
	status, err := s.box.Status(ctx)
	if err != nil {
		return nil, err
	}
	if failed, err = s.waiting(ctx); err != nil {
		return nil, err
	}
	data.Review, data.Failed = status.Count[inbox.StageReview], int64(len(failed))
	return failed, s.db.read.QueryRowContext(ctx, countOwed).Scan(&data.Owed)
}

// listOrders are the ids of the orders of a page. Of those with money, the first page begins
// with the ones that wait for something.
func (s *shop) listOrders(ctx context.Context, data *officeView, from place, failed []inbox.Entry) (ids []string, err error) {
	query, args := selectEvery, []any{from.At, from.Key, officePage + 1}
	switch {
	case data.Search != "":
		query, args = selectFound, foundArgs(data.Search)
	case !data.Every:
		query = selectFunded
	}
	found, err := all(ctx, s.db.read, scanListed, query, args...)
	if err != nil {
		return nil, err
	}
	if len(found) > officePage {
		found = found[:officePage]
		data.Next = found[officePage-1].String()
	}
	if !data.Every && !data.Further && data.Search == "" {
		first, err := s.unbooked(ctx, failed)
		if err != nil {
			return nil, err
		}
		found = append(first, found...)
	}
	shown := map[string]bool{}
	for _, l := range found {
		if !shown[l.OrderID] {
			ids = append(ids, l.OrderID)
		}
		shown[l.OrderID] = true
	}
	return ids, nil
}

// unbooked are the orders with money that is not on the books yet: it waits for the handler
// or for a person.
func (s *shop) unbooked(ctx context.Context, failed []inbox.Entry) ([]listed, error) {
	wait := slices.Clone(failed[:min(len(failed), officePage)])
	for e, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{inbox.StageReady, inbox.StageReview}, Limit: officePage}) {
		if err != nil {
			return nil, err
		}
		wait = append(wait, e)
	}
	return all(ctx, s.db.read, scanListed, strings.ReplaceAll(selectPaidBy, "{payments}", list(len(wait))), keysOf(wait)...)
}

// placeOf is where a page is to go on; without it, at the beginning.
func placeOf(r *http.Request) (place, error) {
	before := r.URL.Query().Get("before")
	if before == "" {
		return place{At: math.MaxInt64}, nil
	}
	at, key, found := strings.Cut(before, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !found {
		return place{}, errBadForm
	}
	return place{At: seconds, Key: plain(key)}, nil
}
