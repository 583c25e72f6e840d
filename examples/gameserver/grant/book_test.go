package grant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// TestNotGuessed: a payment that cannot be matched makes no unit; units of something that is
// not an account id need review, and only a person can close them.
func TestNotGuessed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	noID := storePayment("p-sword", 1000, account)
	noID.ID = uuid.Nil
	for want, p := range map[string]payments.Payment{
		`no product with the id "p-none"`: storePayment("p-none", 1000, account),
		`no product with the id ""`:       storePayment("", 1000, account),
		"has no payment id":               noID,
		"pays for over 10000 units":       storePayment("p-sword", 1e12, account),
	} {
		require.ErrorContains(t, b.handle(p), want)
	}
	waiting, err := b.Waiting(t.Context(), -1)
	require.NoError(t, err)
	require.Empty(t, waiting)

	for _, who := range []string{"", "not an account; op me", "@a", "a\nb", strings.Repeat("a", 65)} {
		units, err := b.OfPayment(t.Context(), b.pay("p-sword", 1000, who))
		require.NoError(t, err)
		require.Equal(t, grant.Review, units[0].State, who)
		require.ErrorContains(t, b.Retry(t.Context(), units[0].Key, kim), "is not an account id")
		require.NoError(t, b.Settle(t.Context(), units[0].Key, kim))
	}
}

// TestQuantity: a payment makes the units that it pays for, at least one product, and a
// handler that runs again makes no more.
func TestQuantity(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for amount, want := range map[int64]int{1: 1, 1999: 1, 2000: 2} {
		p := storePayment("p-sword", amount, account)
		require.NoError(t, b.handle(p))
		require.NoError(t, b.handle(p))
		units, err := b.OfPayment(t.Context(), p.ID.String())
		require.NoError(t, err)
		require.Len(t, units, want, amount)
	}
}

// TestCatalogue: an error names the product and the field.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	one := payments.NewAmount(1)
	half, err := payments.ParseAmount("0.5")
	require.NoError(t, err)
	for want, products := range map[string][]grant.Product{
		"product 1 (A): id":     {{Name: "A"}},
		"product 1 (): price":   {{ID: "a"}},
		"must be a whole":       {{ID: "a", Price: half, Items: []string{"x"}}},
		"items: must name":      {{ID: "a", Price: one}},
		"no empty one":          {{ID: "a", Price: one, Items: []string{"x", ""}}},
		`product 2 (): id: "a"`: {{ID: "a", Price: one, Items: []string{"x"}}, {ID: "a", Price: one, Items: []string{"x"}}},
	} {
		_, err := grant.NewCatalogue(products...)
		require.ErrorContains(t, err, want)
	}
}

// TestDecisions: a decision gives nothing twice, and is kept with its actor and reason.
func TestDecisions(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false)
		g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) { return "", errLost })
		b.run(g)
		id := b.pay("p-sword", 1000, account)
		b.after(time.Minute, id, grant.Review)
		require.ErrorContains(t, b.Retry(t.Context(), id+":1", inbox.Decision{}), "needs an actor and a reason")
		require.ErrorContains(t, b.Retry(t.Context(), id+":9", kim), "no unit has the key")
		require.NoError(t, b.Retry(t.Context(), id+":1", kim))
		b.after(time.Second, id, grant.Granted)
		require.ErrorIs(t, b.Retry(t.Context(), id+":1", kim), grant.ErrGranted)
		require.ErrorIs(t, b.Settle(t.Context(), id+":1", kim), grant.ErrGranted)
		g.requireEach(t, 1)
		all, err := b.Decisions(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, all, 1, "those that were refused are none")
		require.Equal(t, inbox.AuditLine{Action: "retry " + id + ":1", Decision: kim, At: all[0].At}, all[0])
	})
}

// TestRejectedOrGiven: the first to decide, handler or person, decides alone.
func TestRejectedOrGiven(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.ErrorContains(t, b.Reject(t.Context(), b.pay("p-sword", 1000, account), kim), "has units already")
	p := storePayment("p-sword", 1000, account)
	require.ErrorContains(t, b.Reject(t.Context(), p.ID.String(), inbox.Decision{}), "needs an actor and a reason")
	require.NoError(t, b.Reject(t.Context(), p.ID.String(), kim))
	require.ErrorIs(t, b.Reject(t.Context(), p.ID.String(), kim), grant.ErrRejected)
	require.ErrorIs(t, b.handle(p), grant.ErrRejected)
	units, err := b.OfPayment(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Empty(t, units)
}

// TestStatements: what runs ten times a second reads the open units, and none of those that
// were ever granted.
func TestStatements(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, statement := range grant.Statements {
		var args []any
		for strings.Contains(statement, fmt.Sprintf("$%d", len(args)+1)) {
			args = append(args, "")
		}
		rows, err := b.ledger.Reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
		require.NoError(t, err)
		for rows.Next() {
			var id, parent, unused int
			var step string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
			if strings.Contains(step, "grants") {
				require.Contains(t, step, "SEARCH grants USING", statement)
				require.Contains(t, step, "grants_open", statement)
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
}
