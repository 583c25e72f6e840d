package inboxtest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// testRefusedCreate: an order whose payment the service refused is no open order: it
// must not match what somebody pays later under the same identifier.
func testRefusedCreate(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	refused, err := payments.New(payments.Config{BaseURL: s.mock.URL(), Token: "test_nobody", MaxRetries: -1})
	require.NoError(t, err)
	t.Cleanup(refused.CloseIdleConnections)
	good := s.cfg.Client
	s.cfg.Client = refused
	s.reopen()
	_, err = s.box.Create(t.Context(), request("order-1", 500))
	require.ErrorIs(t, err, payments.ErrTokenRefused)

	s.cfg.Client = good
	s.reopen()
	s.run()
	p := paid("order-1", 500)
	s.accept(p)
	require.Equal(t, string(inbox.ReasonUnknownOrder), s.await(p.ID.String(), inbox.StageReview).Reason)
}

// testLongIdentifier: an identifier longer than any index takes is matched whole.
func testLongIdentifier(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	long := ""
	for i := range 4000 { // does not compress well
		long += string(rune('가' + i*7919%11172))
	}
	right, wrong := s.order(long+"a", 500), s.order(long+"b", 500)
	p := paid(long+"a", 500)
	p.ID, p.Metadata.Items = right, request("", 500).Items
	s.accept(p)
	s.requireGrantedOnce(right.String())
	p.ID = wrong
	s.accept(p)
	require.Equal(t, string(inbox.ReasonIdentifier), s.await(wrong.String(), inbox.StageReview).Reason)

	// Without a registered payment it is the key by which the order is found.
	other := paid(strings.Repeat("x", 9000), 1)
	s.accept(other)
	s.await(other.ID.String(), inbox.StageReview)
	found := 0
	for e, err := range s.box.List(t.Context(), inbox.Filter{Identifier: other.Identifier}) {
		require.NoError(t, err)
		require.Equal(t, other, e.Payment)
		found++
	}
	require.Equal(t, 1, found)
}

// testReceipts: what arrived and what became of it, run by run.
func testReceipts(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown, c.MaxAttempts = true, 2 })
	s.setHandler(func(context.Context, *sql.Tx, payments.Payment) error { return errHandler })
	p := paid("order-1", 1)
	s.accept(p)
	require.NoError(t, s.box.Poller().Accept(t.Context(), p))
	s.run()
	s.await(p.ID.String(), inbox.StageDead)
	s.setHandler(grant)
	require.NoError(t, s.box.Retry(t.Context(), p.ID.String(), decision))
	s.requireGrantedOnce(p.ID.String())
	s.accept(p)
	type line struct {
		channel inbox.Channel
		outcome inbox.Outcome
		attempt int64
	}
	want := []line{
		{inbox.ChannelWebhook, inbox.OutcomeAccepted, 0}, {inbox.ChannelPoll, inbox.OutcomeRepeat, 0},
		{0, inbox.OutcomeFailed, 1}, {0, inbox.OutcomeDead, 2}, {inbox.ChannelWebhook, inbox.OutcomeRepeat, 3},
	}
	var got []line
	require.Eventually(t, func() bool {
		receipts, err := s.box.Receipts(t.Context(), p.ID.String())
		got = nil
		for _, r := range receipts {
			got = append(got, line{r.Channel, r.Outcome, r.Attempt})
			if r.Channel == 0 && r.Body != errHandler.Error() {
				return false
			}
		}
		return err == nil && len(got) == len(want)
	}, timeLimit, tickTime, "receipts: %+v", &got)
	require.Equal(t, want, got)
}
