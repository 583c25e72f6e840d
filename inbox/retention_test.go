package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

const keepBodies = 90 * 24 * time.Hour

// retiring is a stand whose bodies are kept for keepBodies, and whose dead pollers left nothing.
func retiring(t *testing.T, pg bool, handler inbox.Handler) *stand {
	t.Helper()
	s := newStand(t, pg, func(c *inbox.Config) { c.KeepBodies, c.Handler = keepBodies, handler })
	s.reconcile()
	return s
}

// age makes what the ledger has so much older.
func (s *stand) age(by time.Duration) {
	s.t.Helper()
	require.NoError(s.t, inbox.Fold(s.box))
	for _, statement := range []string{
		`UPDATE depositpay_payments SET first_seen = first_seen - %[1]d, run_at = run_at - %[1]d, ready_at = ready_at - %[1]d, done_at = done_at - %[1]d,
			asked_at = CASE WHEN asked_at > 0 THEN asked_at - %[1]d ELSE 0 END`,
		`UPDATE depositpay_receipts SET at = at - %[1]d`,
	} {
		s.do(fmt.Sprintf(statement, by.Microseconds()))
	}
}

func (s *stand) accept(p payments.Payment) {
	s.t.Helper()
	require.NoError(s.t, s.box.Webhook().Accept(s.t.Context(), p))
	require.NoError(s.t, inbox.Fold(s.box))
}

// bodies is how many receipts have one.
func (s *stand) bodies() int {
	s.t.Helper()
	require.NoError(s.t, inbox.DropBodies(s.box))
	return books{s.t, s.ledger}.number(`SELECT count(*) FROM depositpay_receipts WHERE body IS NOT NULL`)
}

// TestRetentionPassesNothingOver: a payment that waited in review for longer than bodies are kept gets another
// record. The receipt of its first one is old and comes after younger ones, whose bodies go in their turn.
func TestRetentionPassesNothingOver(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := retiring(t, pg, grant)
		waited := nthPayment(1)
		waited.PaidAmount = payments.NewAmount(0)
		s.accept(waited)
		claims := s.claim()
		require.Len(t, claims, 1)
		inbox.Handle(s.box, &claims[0])
		s.age(keepBodies + 10*24*time.Hour)
		for n := 10; n < 30; n++ {
			s.accept(nthPayment(n))
			s.accept(nthPayment(n)) // a repeat leaves a receipt
		}
		waited.PaidAmount = payments.NewAmount(777)
		s.accept(waited)
		require.GreaterOrEqual(t, s.bodies(), 20, "they are of today")
		s.age(keepBodies + time.Hour)
		require.Zero(t, s.bodies())
	})
}

// TestRetentionAfterAClockAhead: a receipt that is dated in the future holds retention up for as long as bodies
// are kept, and not until then.
func TestRetentionAfterAClockAhead(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := retiring(t, pg, grant)
		s.accept(nthPayment(1))
		s.accept(nthPayment(1))
		_, err := s.ledger.Exec(`UPDATE depositpay_receipts SET at = at + 315360000000000`) // ten years
		require.NoError(t, err)
		s.accept(nthPayment(1))
		require.Equal(t, 2, s.bodies())
		s.age(keepBodies + time.Hour)
		require.Zero(t, s.bodies())
	})
}

// TestRetentionSparesWhatWaitsForAPerson: however old it is, the record of a payment that is in review, dead or
// ready is there when it is granted in the end.
func TestRetentionSparesWhatWaitsForAPerson(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		var granted []payments.Payment
		refuse := true
		s := retiring(t, pg, func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			if refuse {
				return inbox.Cancel(errNobody)
			}
			granted = append(granted, p)
			return nil
		})
		by := inbox.Decision{Actor: "a person", Reason: "looked"}
		inReview, dead, ready := nthPayment(1), nthPayment(2), nthPayment(3)
		inReview.PaidAmount = payments.NewAmount(0)
		handOver := func() {
			claims := s.claim()
			for i := range claims {
				inbox.Handle(s.box, &claims[i])
			}
		}
		s.accept(inReview)
		s.accept(dead)
		handOver()
		s.accept(ready)
		s.age(10 * keepBodies)
		require.Zero(t, s.bodies(), "those of the runs")

		refuse = false
		require.NoError(t, s.box.Approve(t.Context(), inReview.ID.String(), by))
		require.NoError(t, s.box.Retry(t.Context(), dead.ID.String(), by))
		handOver()
		require.ElementsMatch(t, []payments.Payment{inReview, dead, ready}, granted)
	})
}
