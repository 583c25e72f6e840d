package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
)

// Money that buys nothing is written down as owed, in the line that grant would write, and
// stays on the books until it has been sent back.

// decideFor is how long a decision may take that goes on without the browser.
const decideFor = 10 * time.Second

// reject refuses a payment in review, and writes down first that its money is owed: should
// the process die in between, the payment is still in review, and can only be rejected. A
// browser that leaves stops neither.
func (s *shop) reject(w http.ResponseWriter, r *http.Request, key string, by inbox.Decision) error {
	ctx, done := context.WithTimeout(context.WithoutCancel(r.Context()), decideFor)
	defer done()
	e, err := s.box.Get(ctx, key)
	if err != nil {
		return err
	}
	if e.Stage != inbox.StageReview {
		return errOutdated
	}
	won := whole(e.Payment.PaidAmount)
	if !names(e) { // the shopkeeper has looked the sum up
		if won, err = wonOf(r); err == nil && won > 0 {
			err = s.askFirst(w, r, key)
		}
		if err != nil {
			return err
		}
	}
	if won > 0 {
		if _, err := s.owe(ctx, e, won, by); err != nil {
			return err
		}
	}
	return s.box.Reject(ctx, key, by)
}

var (
	errAsking = errors.New("webshop: the service has not answered for all of the shop's payments")
	errAsked  = errors.New("webshop: the service was asked for the shop's payments just now")
)

// askFirst keeps a payment from being given back that also brings the goods. A record that
// names none may be of the shop's own payment, which comes by its id as soon as the service
// is asked for it: so it is asked, and then the shopkeeper looks again.
func (s *shop) askFirst(w http.ResponseWriter, r *http.Request, key string) error {
	var asked bool
	err := s.db.read.QueryRowContext(r.Context(), `SELECT EXISTS (SELECT 1 FROM asked WHERE record = $1)`, key).Scan(&asked)
	if err != nil || asked {
		return err
	}
	report, err := s.reconcileNow(w, r)
	if err != nil {
		return err
	}
	if report.Failed > 0 {
		return errAsking
	}
	if _, err := s.db.write.ExecContext(r.Context(), `INSERT INTO asked (record) VALUES ($1) ON CONFLICT DO NOTHING`, key); err != nil {
		return err
	}
	return errAsked
}

// giveBack ends a payment whose handler gave up. If somebody runs it again at the same
// moment, the handler changes the line, unless the money has gone back.
func (s *shop) giveBack(ctx context.Context, key string, by inbox.Decision) error {
	e, err := s.undecided(ctx, key)
	if err != nil {
		return err
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
	if _, err := s.undecided(ctx, key); err != nil {
		return err
	}
	return s.box.Retry(ctx, key, by)
}

// undecided is a payment whose handler gave up, and of which nobody has decided yet.
func (s *shop) undecided(ctx context.Context, key string) (inbox.Entry, error) {
	e, err := s.box.Get(ctx, key)
	if err != nil {
		return e, err
	}
	sum, booked, err := lineOf(ctx, s.db.read, e.Key)
	if err == nil && (goesBack(e, sum, booked) || e.Stage != inbox.StageDead) {
		err = errOutdated
	}
	return e, err
}

var errOtherSum = errors.New("webshop: another sum of the payment was given back or spent")

// owe writes down that the customer gets won back; written is false if that is written down
// already. If the service has fixed the sum since, the line is fixed too, unless its money
// has been sent back.
func (s *shop) owe(ctx context.Context, e inbox.Entry, won int64, by inbox.Decision) (written bool, err error) {
	err = s.db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back)
			VALUES ($1, $2, $3, $4, $5, $6, $3)
			ON CONFLICT (payment) DO UPDATE SET amount = excluded.amount, give_back = excluded.give_back
			WHERE deposits.outcome = excluded.outcome AND deposits.returned_at = 0 AND deposits.amount <> excluded.amount`,
			e.Key, orderOfRecord(e), won, plain(string(e.Payment.Method)), max(0, e.Payment.VerifiedAt.Unix()), rejected)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if written = n == 1; !written {
			sum, _, err := lineOf(ctx, tx, e.Key)
			if err == nil && sum != won {
				err = errOtherSum
			}
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO refusals (payment, refused_by, why) VALUES ($1, $2, $3)
			ON CONFLICT (payment) DO UPDATE SET refused_by = excluded.refused_by, why = excluded.why`, e.Key, by.Actor, by.Reason)
		return err
	})
	return written, err
}

// names reports whether it is known which payment a record is for. If not, it may be one
// that is on the books already, by its own key: a person says how much goes back.
func names(e inbox.Entry) bool { return e.Unreadable == "" && e.Payment.ID != uuid.Nil }

// orderOfRecord is the order that a record names. It may name anything else, of any length:
// the beginning is enough for a person, and for an index.
func orderOfRecord(e inbox.Entry) string {
	return fmt.Sprintf("%.100s", plain(e.Payment.Identifier))
}

// goesBack reports whether a dead payment is decided on: its money goes back. It is not if the
// books have another sum than the record, which the service has fixed then.
func goesBack(e inbox.Entry, sum int64, booked bool) (decided bool) {
	if e.Stage != inbox.StageDead {
		return false
	}
	if booked && names(e) {
		return sum == whole(e.Payment.PaidAmount)
	}
	return booked || e.Rejected
}

// lineOf is the sum that the books have of a payment, if it is on them.
func lineOf(ctx context.Context, q queryer, key string) (sum int64, found bool, err error) {
	sums, err := all(ctx, q, func(rows *sql.Rows, sum *int64) error { return rows.Scan(sum) }, `SELECT amount FROM deposits WHERE payment = $1`, key)
	if err != nil || len(sums) == 0 {
		return 0, false, err
	}
	return sums[0], true, nil
}

// wonOf is the sum that a form names.
func wonOf(r *http.Request) (int64, error) {
	won, err := strconv.ParseInt(r.PostFormValue("won"), 10, 64)
	if err != nil || won < 0 {
		return 0, errBadForm
	}
	return won, nil
}
