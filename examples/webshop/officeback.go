package main

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// Money that buys nothing is written down as owed, in the line that grant would write, and
// stays on the books until it has been sent back.

// reject refuses a payment in review, and writes down first that its money is owed: should
// the process die in between, the payment is still in review, and the line is changed by
// the handler if somebody approves it then.
func (s *shop) reject(r *http.Request, key string, by inbox.Decision) error {
	e, err := s.box.Get(r.Context(), key)
	if err != nil {
		return err
	}
	if e.Stage != inbox.StageReview {
		return errOutdated
	}
	won := whole(e.Payment.PaidAmount)
	if e.Unreadable != "" { // the shopkeeper has looked the sum up
		if won, err = wonOf(r); err != nil {
			return err
		}
	}
	if won > 0 {
		if _, err := s.owe(r.Context(), e, won, by); err != nil {
			return err
		}
	}
	return s.box.Reject(r.Context(), key, by)
}

// giveBack ends a payment whose handler gave up. If somebody runs it again all the same,
// the handler changes the line, unless the money has gone back.
func (s *shop) giveBack(ctx context.Context, key string, by inbox.Decision) error {
	e, err := s.box.Get(ctx, key)
	if err != nil {
		return err
	}
	if e.Stage != inbox.StageDead || isRejected(e) {
		return errOutdated
	}
	written, err := s.owe(ctx, e, whole(e.Payment.PaidAmount), by)
	if err == nil && !written {
		return errOutdated
	}
	return err
}

// owe writes down that the customer gets won back; written is false if there is a line of
// the payment already.
func (s *shop) owe(ctx context.Context, e inbox.Entry, won int64, by inbox.Decision) (written bool, err error) {
	err = s.db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back)
			VALUES ($1, $2, $3, $4, $5, $6, $3) ON CONFLICT DO NOTHING`,
			e.Key, e.Payment.Identifier, won, string(e.Payment.Method), max(0, e.Payment.VerifiedAt.Unix()), rejected)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if written = n == 1; err != nil || !written {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO refusals (payment, refused_by, why) VALUES ($1, $2, $3)`, e.Key, by.Actor, by.Reason)
		return err
	})
	return written, err
}

// isRejected tells a payment that was rejected by hand from one whose handler gave up.
func isRejected(e inbox.Entry) bool { return strings.HasPrefix(e.Reason, "rejected: ") }

// goesBack tells whether a dead payment is decided on: its money goes back.
func (s *shop) goesBack(ctx context.Context, e inbox.Entry) (decided bool, err error) {
	if e.Stage != inbox.StageDead {
		return false, nil
	}
	if isRejected(e) {
		return true, nil
	}
	err = s.db.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM deposits WHERE payment = $1)`, e.Key).Scan(&decided)
	return decided, err
}

// wonOf is the sum that a form names.
func wonOf(r *http.Request) (int64, error) {
	won, err := strconv.ParseInt(r.PostFormValue("won"), 10, 64)
	if err != nil || won < 0 {
		return 0, errBadForm
	}
	return won, nil
}
