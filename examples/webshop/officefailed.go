package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// atOnce is for how many payments the books are asked in one query.
const atOnce = 200

// waiting reads the payments whose handler gave up and that nobody has decided on, the first
// seen first. The ledger keeps those that go back as well, for ever.
func (s *shop) waiting(ctx context.Context) (found []inbox.Entry, err error) {
	var some []inbox.Entry
	look := func() error {
		booked, err := s.booked(ctx, some)
		for _, e := range some {
			if sum, has := booked[e.Key]; !goesBack(e, sum, has) {
				found = append(found, e)
			}
		}
		some = some[:0]
		return err
	}
	for e, err := range s.box.List(ctx, inbox.Filter{Stages: []inbox.Stage{inbox.StageDead}}) {
		if err != nil {
			return nil, err
		}
		if some = append(some, e); len(some) == atOnce {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	return found, look()
}

// booked are the sums that the books have of these payments.
func (s *shop) booked(ctx context.Context, of []inbox.Entry) (map[string]int64, error) {
	type line struct {
		key string
		sum int64
	}
	lines, err := all(ctx, s.db.read, func(rows *sql.Rows, l *line) error { return rows.Scan(&l.key, &l.sum) },
		`SELECT payment, amount FROM deposits WHERE payment IN `+list(len(of)), keysOf(of)...)
	sums := make(map[string]int64, len(lines))
	for _, l := range lines {
		sums[l.key] = l.sum
	}
	return sums, err
}

// list is a list of n parameters for a query. PostgreSQL wants something in each.
func list(n int) string {
	if n == 0 {
		return "(NULL)"
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("$", i+1)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func keysOf(entries []inbox.Entry) []any {
	keys := make([]any, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	return keys
}

// failed reads the payments whose handler gave up with all that a person needs to decide.
func (s *shop) failed(ctx context.Context) ([]heldView, error) {
	waiting, err := s.waiting(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]heldView, min(len(waiting), heldPage))
	for i := range found {
		if found[i], err = s.complete(ctx, heldView{Entry: waiting[i]}); err != nil {
			return nil, err
		}
	}
	return found, nil
}
