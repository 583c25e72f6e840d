package inboxtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// testOrders: what does not match the order goes to review, and never to the handler.
func testOrders(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	for want, change := range map[inbox.Reason]func(p *payments.Payment){
		"":                       func(*payments.Payment) {},
		inbox.ReasonUnderpaid:    func(p *payments.Payment) { p.PaidAmount = payments.NewAmount(9999) },
		inbox.ReasonOverpaid:     func(p *payments.Payment) { p.PaidAmount = payments.NewAmount(10001) },
		inbox.ReasonNoMoney:      func(p *payments.Payment) { p.PaidAmount = payments.Amount{} },
		inbox.ReasonIdentifier:   func(p *payments.Payment) { p.Identifier = "order-of-another" },
		inbox.ReasonUnknownOrder: func(p *payments.Payment) { p.ID, p.Identifier = uuid.New(), "nobody's" },
		inbox.ReasonItems: func(p *payments.Payment) {
			p.Metadata.Items = []payments.Item{{Name: "Castle", Price: payments.NewAmount(10000)}}
		},
	} {
		p := paid("order-"+string(want), 10000)
		p.ID = s.order(p.Identifier, 10000)
		change(&p)
		s.accept(p)
		if want == "" {
			s.requireGrantedOnce(p.ID.String())
			continue
		}
		e := s.await(p.ID.String(), inbox.StageReview)
		require.Equal(t, string(want), e.Reason)
		require.Equal(t, p, e.Payment, "the record is kept as it came")
		require.Zero(t, s.effects(p.ID.String()))
	}
	// An empty key matches nothing, not even an open order with an empty identifier.
	s.exec(`INSERT INTO depositpay_orders (order_id, identifier, amount, items, created_at) VALUES ('empty', '', '10000', 'null', 1)`)
	p := paid("", 10000)
	s.accept(p)
	require.Equal(t, string(inbox.ReasonUnknownOrder), s.await(p.ID.String(), inbox.StageReview).Reason)

	// Without an amount the customer chooses.
	created, err := s.box.Create(t.Context(), payments.CreateRequest{Title: "Gift", Identifier: "gift-1"})
	require.NoError(t, err)
	p = paid("gift-1", 777)
	p.ID = created.PayToken
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
}

// lostCreate is a client whose answer to Create is lost after the service has acted.
type lostCreate struct {
	inbox.Client
	created []payments.Created
}

func (l *lostCreate) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	c, err := l.Client.Create(ctx, req)
	if err == nil {
		l.created = append(l.created, c)
	}
	return payments.Created{}, errors.Join(err, payments.ErrAmbiguous)
}

// testInterruptedCreate: an order whose payment id never arrived is matched by its
// identifier, if that is not ambiguous.
func testInterruptedCreate(t *testing.T, open func(*testing.T) Database) {
	lost := &lostCreate{}
	s := newShop(t, open, func(c *inbox.Config) {
		lost.Client = c.Client
		c.Client = lost
	})
	s.run()
	_, err := s.box.Create(t.Context(), request("order-1", 10000))
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	p := paid("order-1", 10000)
	p.ID = lost.created[0].PayToken
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())

	// The order is taken now: the identifier alone grants nothing more.
	p = paid("order-1", 10000)
	s.accept(p)
	require.Equal(t, string(inbox.ReasonUnknownOrder), s.await(p.ID.String(), inbox.StageReview).Reason)

	// Two open orders of one identifier would be a guess.
	for range 2 {
		_, err := s.box.Create(t.Context(), request("order-2", 10000))
		require.ErrorIs(t, err, payments.ErrAmbiguous)
	}
	p = paid("order-2", 10000)
	p.ID = lost.created[1].PayToken
	s.accept(p)
	require.Equal(t, string(inbox.ReasonUnknownOrder), s.await(p.ID.String(), inbox.StageReview).Reason)
}

// paidMeanwhile is a client that lets something happen before it returns from Create.
type paidMeanwhile struct {
	inbox.Client
	happen func()
}

func (c *paidMeanwhile) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	created, err := c.Client.Create(ctx, req)
	c.happen()
	return created, err
}

// testTakenOrder: an open order that another payment has taken by its identifier is
// not given to a second one.
func testTakenOrder(t *testing.T, open func(*testing.T) Database) {
	client := &paidMeanwhile{}
	s := newShop(t, open, func(c *inbox.Config) {
		client.Client = c.Client
		c.Client = client
	})
	s.run()
	first := paid("order-1", 10000)
	client.happen = func() {
		s.accept(first)
		s.requireGrantedOnce(first.ID.String())
	}
	second := s.order("order-1", 10000)
	s.await(second.String(), inbox.StageExpected)
	var owner string
	require.NoError(t, s.db.Ledger.QueryRowContext(t.Context(), `SELECT payment_id FROM depositpay_orders`).Scan(&owner))
	require.Equal(t, first.ID.String(), owner)
}

func testRecordBeforeRegistration(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	p := paid("order-1", 10000)
	s.accept(p)
	require.NoError(t, s.box.Expect(t.Context(), p.ID, request("order-1", 10000)))
	require.NoError(t, s.box.Expect(t.Context(), p.ID, request("order-1", 20000)), "the first one counts")
	s.run()
	s.requireGrantedOnce(p.ID.String())
	require.Error(t, s.box.Expect(t.Context(), uuid.Nil, request("order-1", 1)))
}

func testCatalogue(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) {
		c.Catalogue = map[string]inbox.Product{
			"sword":  {Price: payments.NewAmount(3000)},
			"potion": {Price: payments.NewAmount(500), PerItem: true},
		}
	})
	s.run()
	for _, tc := range []struct {
		product string
		amount  int64
		want    inbox.Reason
	}{
		{"sword", 3000, ""},
		{"sword", 6000, inbox.ReasonPrice},
		{"sword", 2999, inbox.ReasonPrice},
		{"potion", 500, ""},
		{"potion", 1500, ""},
		{"potion", 1501, inbox.ReasonPrice},
		{"potion", 0, inbox.ReasonNoMoney},
		{"castle", 3000, inbox.ReasonProduct},
		{"", 3000, inbox.ReasonUnknownOrder},
	} {
		p := paid("player-1", tc.amount)
		p.Metadata.GameProduct = tc.product
		s.accept(p)
		if tc.want == "" {
			s.requireGrantedOnce(p.ID.String())
			continue
		}
		require.Equal(t, string(tc.want), s.await(p.ID.String(), inbox.StageReview).Reason, "%+v", tc)
		require.Zero(t, s.effects(p.ID.String()))
	}
}

func testAcceptUnknown(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.AcceptUnknown = true })
	s.run()
	p := paid("anybody", 1)
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
	p = paid("anybody", 0)
	s.accept(p)
	require.Equal(t, string(inbox.ReasonNoMoney), s.await(p.ID.String(), inbox.StageReview).Reason)
	p = paid("order-1", 1)
	p.ID = s.order("order-1", 2)
	s.accept(p)
	require.Equal(t, string(inbox.ReasonUnderpaid), s.await(p.ID.String(), inbox.StageReview).Reason, "an order is checked all the same")
}

// testNotBefore: what may have been handed over by a ledger before this one needs a look,
// unless an order of this ledger is for it.
func testNotBefore(t *testing.T, open func(*testing.T) Database) {
	born := time.Now().UTC().Truncate(time.Second)
	s := newShop(t, open, func(c *inbox.Config) {
		c.AcceptUnknown, c.NotBefore = true, born
		c.Catalogue = map[string]inbox.Product{"sword": {Price: payments.NewAmount(3000)}}
	})
	s.run()
	for _, tc := range []struct {
		product  string
		verified time.Time
		want     inbox.Reason
	}{
		{"", born, ""},
		{"sword", born, ""},
		{"", born.Add(-time.Second), inbox.ReasonTooOld},
		{"sword", born.Add(-time.Second), inbox.ReasonTooOld},
		{"castle", born.Add(-time.Second), inbox.ReasonTooOld},
		{"", time.Time{}, inbox.ReasonTooOld},
	} {
		p := paid("player-1", 3000)
		p.Metadata.GameProduct, p.VerifiedAt = tc.product, tc.verified
		s.accept(p)
		if tc.want == "" {
			s.requireGrantedOnce(p.ID.String())
			continue
		}
		require.Equal(t, string(tc.want), s.await(p.ID.String(), inbox.StageReview).Reason, "%+v", tc)
		require.Zero(t, s.effects(p.ID.String()))
		require.NoError(t, s.box.Approve(t.Context(), p.ID.String(), decision))
		s.requireGrantedOnce(p.ID.String())
	}
	p := paid("order-1", 10000)
	p.ID, p.VerifiedAt = s.order("order-1", 10000), born.Add(-time.Hour)
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
}

// testSecondRecord: a failed voucher may be paid after all; the same record again is
// no news.
func testSecondRecord(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	p := paid("order-1", 0)
	p.ID = s.order("order-1", 10000)
	s.accept(p)
	s.await(p.ID.String(), inbox.StageReview)
	s.accept(p)
	require.Equal(t, inbox.StageReview, s.await(p.ID.String(), inbox.StageReview).Stage)
	p.PaidAmount = payments.NewAmount(10000)
	s.accept(p)
	s.requireGrantedOnce(p.ID.String())
}
