package inbox_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// What these tests have found, in a few steps.

// TestExpectTwice: the second registration of a payment leaves no open order, which a
// payment that nobody expects would match by its identifier.
func TestExpectTwice(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			s := newStand(t, pg, func(c *inbox.Config) { c.AcceptUnknown = false })
			expected, stranger := uuid.New(), uuid.New()
			for range 2 {
				order := payments.CreateRequest{Title: "Sword", Identifier: "kim", Amount: payments.NewAmount(500)}
				require.NoError(t, s.box.Expect(t.Context(), expected, order))
			}
			for _, id := range []uuid.UUID{stranger, expected} {
				require.NoError(t, s.box.Webhook().Accept(t.Context(), paymentOf(id, record{"kim", "500"})))
				claims := s.claim()
				require.Len(t, claims, 1)
				inbox.Handle(s.box, &claims[0])
			}
			e := s.entry(stranger.String())
			require.Equal(t, inbox.StageReview, e.Stage)
			require.Equal(t, string(inbox.ReasonUnknownOrder), e.Reason)
			e = s.entry(expected.String())
			require.Equal(t, inbox.StageDone, e.Stage)
		})
	}
}

// TestGetWhileFolding: what is accepted is known at any moment, also while it moves from
// the intake file to the ledger.
func TestGetWhileFolding(t *testing.T) {
	t.Parallel()
	s := newStand(t, false, nil)
	for i := range 500 {
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(i)))
		folded := make(chan error, 1)
		go func() { folded <- inbox.Fold(s.box) }()
		for range 4 {
			_, err := s.box.Get(t.Context(), nthPayment(i).ID.String())
			require.NoError(t, err, "payment %d", i)
		}
		require.NoError(t, <-folded)
	}
}

// TestDiffersFromWhatIsHandedOver: a record that says something else than the one which a
// handler may have, is kept and named as what it is, however often the first one is repeated.
func TestDiffersFromWhatIsHandedOver(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			s := newStand(t, pg, nil)
			id := uuid.New()
			for _, amount := range []string{"500", "700", "500"} {
				require.NoError(t, s.box.Webhook().Accept(t.Context(), paymentOf(id, record{"kim", amount})))
			}
			require.NoError(t, inbox.Fold(s.box))
			receipts := s.received(id.String())
			var outcomes []inbox.Outcome
			for _, r := range receipts {
				outcomes = append(outcomes, r.Outcome)
			}
			require.Equal(t, []inbox.Outcome{inbox.OutcomeAccepted, inbox.OutcomeDiffers, inbox.OutcomeRepeat}, outcomes)
		})
	}
}

// TestTheYoungestHintStays: it is not given up in place of an older one that is in somebody's
// hands for a moment.
func TestTheYoungestHintStays(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = 2 })
	ids := s.refused(5)
	held, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = held.Exec(`SELECT 1 FROM depositpay_payments WHERE payment_id IN ($1, $2) FOR UPDATE`, ids[0].String(), ids[1].String())
	require.NoError(t, err)
	left := func() (n []int) {
		require.NoError(t, inbox.EvictHints(s.box))
		for i, id := range ids {
			if _, err := s.box.Get(t.Context(), id.String()); err == nil {
				n = append(n, i)
			} else {
				require.ErrorIs(t, err, inbox.ErrNotFound)
			}
		}
		return n
	}
	require.Equal(t, []int{0, 1, 3, 4}, left())
	require.NoError(t, held.Rollback())
	require.Equal(t, []int{3, 4}, left())
}

// TestEvictionByTwo: a replica that has counted before another one gave the surplus up does not
// give up as many again.
func TestEvictionByTwo(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = 3 })
	s.refused(5)
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`LOCK TABLE depositpay_payments IN SHARE MODE`) // anyone who has counted waits to delete
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- inbox.EvictHints(s.box) }()
	s.awaitLock("relation")
	_, err = other.Exec(`DELETE FROM depositpay_payments WHERE payment_id IN (SELECT payment_id FROM depositpay_payments ORDER BY first_seen LIMIT 2)`)
	require.NoError(t, err)
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	status := s.status()
	require.Equal(t, int64(3), status.Count[inbox.StageHint])
}
