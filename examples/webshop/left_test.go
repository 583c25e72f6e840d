package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// idle is a shop that does not run, so that a test has it to itself.
func idle(t *testing.T, postgres string) *shop {
	t.Helper()
	mock := mockserver.RunT(t)
	s, err := openShop(t.Context(), settings{
		File: filepath.Join(t.TempDir(), "shop.db"), Postgres: postgres, OrderLifetime: time.Hour, Addr: "127.0.0.1:0",
		BaseURL: mock.URL(), CheckoutURL: mock.CheckoutURL(), Token: mock.Token(), OfficePassword: testPassword, now: time.Now,
	})
	require.NoError(t, err)
	return s
}

// TestLeftAtTheEnd: what the poller was left with when the shop stops is stored all the same,
// each payment by a try of its own; if that fails, the error names it.
func TestLeftAtTheEnd(t *testing.T) {
	t.Parallel()
	s := idle(t, "")
	ended, end := context.WithCancel(t.Context())
	end()
	left := &poller.UnhandedError{Err: context.Canceled}
	for range 2 {
		left.Payments = append(left.Payments, payments.Payment{
			ID: uuid.New(), Status: payments.StatusComplete, Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(500), VerifiedAt: time.Now(),
		})
	}
	require.NoError(t, s.takeLeft(ended, left))
	for _, p := range left.Payments {
		e, err := s.box.Get(t.Context(), p.ID.String())
		require.NoError(t, err)
		require.Equal(t, inbox.StageReady, e.Stage, "the ledger is not running")
	}
	require.NoError(t, s.close())
	for i := range left.Payments {
		left.Payments[i].ID = uuid.New()
	}
	err := s.takeLeft(ended, left)
	for _, p := range left.Payments {
		require.ErrorContains(t, err, p.ID.String())
	}
}

// TestOldLinks: an order of a version that kept no list of links shows its payment.
func TestOldLinks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v := w.visitor()
		id, payToken := v.order("cup", 1)
		_, err := w.shop.db.write.ExecContext(t.Context(), `DELETE FROM pay_links`)
		require.NoError(t, err)
		w.pay(payToken, 20_000)
		require.Eventually(t, func() bool { return w.only(inbox.StageReview) == payToken }, patience, tick)
		require.NoError(t, w.shop.db.prepare(t.Context()))
		require.NoError(t, w.shop.db.prepare(t.Context()), "on each start")
		v.shows("/orders/"+id, "We are looking at your deposit", "You paid ₩20,000")
	})
}
