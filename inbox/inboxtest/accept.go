package inboxtest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

func testAccept(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown = true })
	p := paid("order-1", 10000)
	half, err := payments.ParseAmount("10000.5")
	require.NoError(t, err)
	p.PaidAmount = half
	p.Extra = map[string]json.RawMessage{"fee": json.RawMessage(`{"x":[1]}`)}
	s.accept(p)
	e := s.entry(p.ID.String())
	require.Equal(t, inbox.StageReady, e.Stage, "durable before anything runs")
	require.Equal(t, p, e.Payment)
	standing, err := s.box.Webhook().State(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.StateHandled, standing)
	s.accept(p)
	require.NoError(t, s.box.Poller().Accept(t.Context(), p))

	stop := s.run()
	s.requireGrantedOnce(p.ID.String())
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
	e = s.await(p.ID.String(), inbox.StageDone)
	require.False(t, e.DoneAt.IsZero())
	require.Equal(t, p, e.Payment)
	require.Eventually(t, func() bool {
		receipts, err := s.box.Receipts(t.Context(), p.ID.String())
		return err == nil && len(receipts) == 4
	}, timeLimit, tickTime, "every body received is kept")
	stop()
	s.reopen()
	s.reconcile()
	receipts, err := s.box.Receipts(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Len(t, receipts, 4, "what took effect once does not take effect again after a restart")
	s.run()

	p = paid("order-2", 1)
	p.Status = payments.StatusProgress
	require.ErrorIs(t, s.box.Webhook().Accept(t.Context(), p), payments.ErrNotComplete)
	_, err = s.box.Get(t.Context(), p.ID.String())
	require.ErrorIs(t, err, inbox.ErrNotFound)

	p = paid("order-3", 1)
	p.ID = uuid.Nil
	s.accept(p)
	var review []inbox.Entry
	require.Eventually(t, func() bool {
		review = nil
		for e, err := range s.box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}}) {
			require.NoError(t, err)
			review = append(review, e)
		}
		return len(review) == 1
	}, timeLimit, tickTime)
	require.Equal(t, string(inbox.ReasonNoID), review[0].Reason)
	require.Equal(t, "order-3", review[0].Payment.Identifier)
}

func testAcceptAtOnce(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown = true })
	s.run()
	one := paid("order-1", 10000)
	var all []payments.Payment
	for range 64 {
		all = append(all, one, paid("order-2", 500))
	}
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { require.NoError(t, s.box.Webhook().Accept(t.Context(), p)) })
	}
	wg.Wait()
	for _, p := range all {
		s.requireGrantedOnce(p.ID.String())
	}
	require.Equal(t, 65, s.effects(""))
}

func testAcceptAfterClose(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := paid("order-1", 1)
	if err := s.box.Webhook().Accept(ctx, p); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, s.box.Close())
	require.ErrorIs(t, s.box.Webhook().Accept(t.Context(), p), inbox.ErrClosed)
	s.box = nil
	s.reopen()
}

// testBothChannels lets one payment come by webhook and by poll at the same moment.
func testBothChannels(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	for range 20 {
		id := s.order("order-"+uuid.NewString(), 10000)
		s.deposit(id, 10000)
		var wg sync.WaitGroup
		wg.Go(func() {
			if p, err := s.client.Confirm(t.Context(), id); err == nil {
				require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			}
		})
		wg.Go(func() {
			if p, err := s.client.Next(t.Context()); err == nil {
				require.NoError(t, s.box.Poller().Accept(t.Context(), p))
			}
		})
		wg.Wait()
		s.requireGrantedOnce(id.String())
	}
}

// testHostileText: what a database or a log could trip over comes back as it was.
func testHostileText(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown = true })
	s.run()
	for _, identifier := range []string{
		"'; DROP TABLE effects; --", "\x00nul", "base64:AAAA", `"\u0000`, "한글 😀 \u202e", strings.Repeat("x", 10_000), "?1 $1 {p} {now}", "",
	} {
		p := paid(identifier, 500)
		s.accept(p)
		e := s.await(p.ID.String(), inbox.StageDone)
		require.Equal(t, identifier, e.Payment.Identifier)
		found := 0
		for e, err := range s.box.List(t.Context(), inbox.Filter{Identifier: identifier}) {
			require.NoError(t, err)
			if e.Key == p.ID.String() {
				found++
			}
		}
		require.Equal(t, 1, found, "%q", identifier)
	}
}
