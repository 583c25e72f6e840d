package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
)

// Money that buys nothing is written down as owed, in the line that grant would write, and
// stays on the books until it has been sent back.

// reject refuses a payment in review, and writes down first that its money is owed: should
// the process die in between, the payment is still in review, and can only be rejected.
func (s *shop) reject(r *http.Request, key string, by inbox.Decision) error {
	e, err := s.box.Get(r.Context(), key)
	if err != nil {
		return err
	}
	if e.Stage != inbox.StageReview {
		return errOutdated
	}
	won := whole(e.Payment.PaidAmount)
	if !names(e) { // the shopkeeper has looked the sum up
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

// giveBack ends a payment whose handler gave up. If somebody runs it again at the same
// moment, the handler changes the line, unless the money has gone back.
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

// runAgain is for payments that are not decided on: money that is to go back, and may be
// on its way already, buys nothing.
func (s *shop) runAgain(ctx context.Context, key string, by inbox.Decision) error {
	e, err := s.box.Get(ctx, key)
	if err != nil {
		return err
	}
	decided, err := s.goesBack(ctx, e)
	if err != nil {
		return err
	}
	if e.Stage != inbox.StageDead || decided {
		return errOutdated
	}
	return s.box.Retry(ctx, key, by)
}

// owe writes down that the customer gets won back; written is false if there is a line of
// the payment already.
func (s *shop) owe(ctx context.Context, e inbox.Entry, won int64, by inbox.Decision) (written bool, err error) {
	err = s.db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back)
			VALUES ($1, $2, $3, $4, $5, $6, $3) ON CONFLICT DO NOTHING`,
			e.Key, orderOfRecord(e), won, plain(string(e.Payment.Method)), max(0, e.Payment.VerifiedAt.Unix()), rejected)
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

// names tells whether it is known which payment a record is for. If not, it may be one
// that is on the books already, by its own key: a person says how much goes back.
func names(e inbox.Entry) bool { return e.Unreadable == "" && e.Payment.ID != uuid.Nil }

// orderOfRecord is the order that a record names. It may name anything else, of any length:
// the beginning is enough for a person, and for an index.
func orderOfRecord(e inbox.Entry) string {
	return fmt.Sprintf("%.100s", plain(e.Payment.Identifier))
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
	return s.onBooks(ctx, e.Key)
}

// onBooks tells whether it is written down what becomes of the money.
func (s *shop) onBooks(ctx context.Context, key string) (found bool, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM deposits WHERE payment = $1)`, key).Scan(&found)
	return found, err
}

// wonOf is the sum that a form names.
func wonOf(r *http.Request) (int64, error) {
	won, err := strconv.ParseInt(r.PostFormValue("won"), 10, 64)
	if err != nil || won < 0 {
		return 0, errBadForm
	}
	return won, nil
}
