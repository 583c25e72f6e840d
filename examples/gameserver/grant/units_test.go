package grant_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// TestItemsOfYourOwn: payments that the merchant creates name products by name, and the
// merchant's rule tells whose they are.
func TestItemsOfYourOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *grant.Config) {
		cfg.AccountOf = func(p payments.Payment) string { who, _, _ := strings.Cut(p.Identifier, "/"); return who }
	})
	p := payments.Payment{ID: uuid.New(), Identifier: account + "/order-7", PaidAmount: payments.NewAmount(7000), Metadata: payments.Metadata{
		Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(1000), Count: 2}, {Name: "Hero pack", Price: payments.NewAmount(5000)}},
	}}
	require.NoError(t, b.handle(p))
	require.NoError(t, b.handle(p), "the inbox may run a handler again")
	units, err := b.History(t.Context(), account)
	require.NoError(t, err)
	var got []string
	for _, u := range units {
		got = append(got, strings.TrimPrefix(u.Key, p.ID.String())+" "+u.Item)
	}
	require.ElementsMatch(t, []string{":1:1 sword", ":1:2 sword", ":2:1 rank:hero", ":3:1 potion", ":3:2 potion", ":3:3 potion"}, got)
}

// TestNotGuessed: what cannot be matched is for a person.
func TestNotGuessed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for want, p := range map[string]payments.Payment{
		`no product with the id "p-none"`:     {ID: uuid.New(), Metadata: payments.Metadata{GameProduct: "p-none"}},
		`no product called "Shield"`:          {ID: uuid.New(), Metadata: payments.Metadata{Items: []payments.Item{{Name: "Shield"}}}},
		"names neither a product nor an item": {ID: uuid.New()},
		"names no payment":                    {Metadata: payments.Metadata{GameProduct: "p-sword"}},
		"pays for more than 10000":            {ID: uuid.New(), PaidAmount: payments.NewAmount(1e12), Metadata: payments.Metadata{GameProduct: "p-sword"}},
		"are more than 10000 units":           {ID: uuid.New(), Metadata: payments.Metadata{Items: []payments.Item{{Name: "Sword", Count: 10_001}}}},
	} {
		require.ErrorContains(t, b.handle(p), want)
	}
	waiting, err := b.Waiting(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, waiting)

	own := payments.Payment{ID: uuid.New(), Identifier: account, Metadata: payments.Metadata{Items: []payments.Item{{Name: "Sword"}}}}
	require.NoError(t, b.handle(own))
	unit := b.await(own.ID.String(), grant.Review)[0]
	require.Equal(t, "the payment is not of the game store, and Config.AccountOf is not set", unit.Reason)
	require.ErrorContains(t, b.Resend(t.Context(), unit.Key, inbox.Decision{Actor: "Kim", Reason: "it looks like one"}), "is not an account id")
}

// TestApproved: a person may approve what is not a multiple of the price.
func TestApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for amount, units := range map[int64]int{1: 1, 1999: 1, 2000: 2} {
		got, err := b.OfPayment(t.Context(), b.pay("p-sword", amount, account))
		require.NoError(t, err)
		require.Len(t, got, units, amount)
	}
}

// TestCatalogue: what is wrong is named.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"not a JSON array":                 `{}`,
		`unknown field "prise"`:            `[{"prise":1}]`,
		"product 1 (): id":                 `[{}]`,
		"name: it is missing":              `[{"id":"a"}]`,
		"product 1 (A): price":             `[{"id":"a","name":"A"}]`,
		"lines: there is nothing to grant": `[{"id":"a","name":"A","price":1}]`,
		`lines[0].item: "x; op me"`:        `[{"id":"a","name":"A","price":1,"lines":[{"item":"x; op me"}]}]`,
		"count (0 to 10000)":               `[{"id":"a","name":"A","price":1,"lines":[{"item":"x","count":10001}]}]`,
		`the id "a" is there twice`:        `[{"id":"a","name":"A","price":1,"lines":[{"item":"x"}]},{"id":"a","name":"B","price":1,"lines":[{"item":"x"}]}]`,
		`the name "A" is there twice`:      `[{"id":"a","name":"A","price":1,"lines":[{"item":"x"}]},{"id":"b","name":"A","price":1,"lines":[{"item":"x"}]}]`,
	} {
		_, err := grant.ReadCatalogue(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	c, err := grant.NewCatalogue(products()...)
	require.NoError(t, err)
	require.True(t, c.Inbox()["p-sword"].PerItem)
	require.Equal(t, payments.NewAmount(5000), c.Inbox()["p-pack"].Price)
}

// TestBorn: the book remembers when it was made.
func TestBorn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.WithinDuration(t, time.Now(), b.Born(), time.Minute)
	again, err := grant.Open(t.Context(), b.cfg)
	require.NoError(t, err)
	require.Equal(t, b.Born(), again.Born())
}

// TestTwiceInOneOrder: a product in two items is two of it, and once per order is once.
func TestTwiceInOneOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *grant.Config) {
		cfg.AccountOf = func(payments.Payment) string { return account }
	})
	pack := payments.Item{Name: "Hero pack", Price: payments.NewAmount(5000)}
	p := payments.Payment{ID: uuid.New(), Identifier: "order-7", PaidAmount: payments.NewAmount(10_000), Metadata: payments.Metadata{Items: []payments.Item{pack, pack}}}
	require.NoError(t, b.handle(p))
	units, err := b.OfPayment(t.Context(), p.ID.String())
	require.NoError(t, err)
	count := map[string]int{}
	for _, u := range units {
		count[u.Item]++
	}
	require.Equal(t, map[string]int{"rank:hero": 1, "potion": 6}, count)
}

// TestNobody: a rule that gives no account names nobody, and not everybody, whatever an
// account looks like.
func TestNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *grant.Config) {
		cfg.Account = regexp.MustCompile(`^[0-9a-z-]*$`)
		cfg.AccountOf = func(payments.Payment) string { return "" }
	})
	p := payments.Payment{ID: uuid.New(), Identifier: "order-7", Metadata: payments.Metadata{Items: []payments.Item{{Name: "Sword"}}}}
	require.NoError(t, b.handle(p))
	unit := b.await(p.ID.String(), grant.Review)[0]
	require.ErrorContains(t, b.Resend(t.Context(), unit.Key, inbox.Decision{Actor: "Kim", Reason: "why not"}), "is not an account id")
}
