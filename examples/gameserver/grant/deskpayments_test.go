package grant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// storePayment is a record of the game store.
func storePayment(product string, amount int64) payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: account, Status: payments.StatusComplete, PaidAmount: payments.NewAmount(amount),
		Metadata: payments.Metadata{GameProduct: product},
	}
}

// TestDeskPayments: what was paid and became no unit is seen and decided at the desk.
func TestDeskPayments(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.run(o.box.Run, func(ctx context.Context) error { return o.desk.Book.Run(ctx, newGame(true)) })
	require.Equal(t, "no payment waits for a decision\n", o.do("payments"))
	cheap, wrong, bare := storePayment(o.sword.ID, 900), storePayment(o.sword.ID, 800), storePayment(o.sword.ID, 1000)
	bare.Metadata.GameProduct = ""
	for _, p := range []payments.Payment{cheap, wrong, bare} {
		require.NoError(t, o.box.Webhook().Accept(t.Context(), p))
		o.until("payments", p.ID.String())
	}
	line := cheap.ID.String() + `  "` + account + `" paid 900  review: price_mismatch`
	require.Contains(t, o.do("payments"), line)
	require.Contains(t, o.do("history "+account), line)
	require.Equal(t, "3 payments wait for a decision: see payments\n", o.do("pending"))
	require.Contains(t, o.do("report"), "needs a decision: "+cheap.ID.String()+", review: price_mismatch")
	require.NotContains(t, o.do("report"), account)

	require.Contains(t, o.do("approve "+cheap.ID.String()), "which payment, and why?")
	require.Equal(t, cheap.ID.String()+" is handed over as it is\n", o.do("approve "+cheap.ID.String()+" the price was changed"))
	o.until("history "+account, cheap.ID.String()+":1:1  "+account+"  sword  granted at ")
	require.Contains(t, o.do("reject "+wrong.ID.String()+" paid back"), wrong.ID.String()+" is rejected")
	require.NotContains(t, o.do("payments"), wrong.ID.String())
	require.Contains(t, o.do("retry "+cheap.ID.String()+" again"), "not possible in this stage")

	// The grant cannot tell what this one was for: it goes among the dead, and stays there.
	o.do("approve " + bare.ID.String() + " who knows")
	dead := o.until("payments", "dead: ")
	require.Contains(t, dead, "names neither a product nor an item")
	require.Equal(t, bare.ID.String()+" runs again\n", o.do("retry "+bare.ID.String()+" is it fixed?"))
	o.until("payments", "dead: ")
	audit, err := o.box.Audit(t.Context(), bare.ID.String())
	require.NoError(t, err)
	require.Len(t, audit, 2)
	require.Equal(t, "Kim", audit[1].Decision.Actor)
	require.Equal(t, "is it fixed?", audit[1].Decision.Reason)
}

// TestRecoverSaysWhereItStands: what is in the ledger may still need a decision.
func TestRecoverSaysWhereItStands(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var err error
	o.sword, err = o.mock.SaveProduct(mockserver.Product{Name: "Not in the catalogue", Price: 1000})
	require.NoError(t, err)
	o.run(o.box.Run)
	id := o.sell().String()
	o.until("recover "+id, id+" is in the ledger: review: unknown_product")
}

// TestRejectDead: a dead payment that was paid back is off the desk, and nothing is ever
// given for it.
func TestRejectDead(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.run(o.box.Run)
	bare := storePayment(o.sword.ID, 1000)
	bare.Metadata.GameProduct = ""
	id := bare.ID.String()
	require.NoError(t, o.box.Webhook().Accept(t.Context(), bare))
	o.until("payments", id)
	o.do("approve " + id + " who knows")
	o.until("payments", "dead: ")
	require.Contains(t, o.do("reject "+id+" paid back"), id+" is rejected: nothing is given for it")
	require.Equal(t, "no payment waits for a decision\n", o.do("payments"))
	require.Equal(t, "nothing is pending\n", o.do("pending"))
	require.NotContains(t, o.do("report"), "needs a decision")
	for _, again := range []string{"reject ", "retry "} {
		require.Contains(t, o.do(again+id+" by mistake"), "nothing is given for this payment: Kim rejected it at ")
	}

	// Somebody else may have decided to run it again, at the same moment.
	require.NoError(t, o.box.Retry(t.Context(), id, inbox.Decision{Actor: "Lee", Reason: "it is fixed"}))
	require.Eventually(t, func() bool {
		e, err := o.box.Get(t.Context(), id)
		return err == nil && e.Stage == inbox.StageDead && strings.Contains(e.Reason, "Kim rejected it at ")
	}, 20*time.Second, 2*time.Millisecond)
	require.Equal(t, "no payment waits for a decision\n", o.do("payments"))

	wrong := storePayment(o.sword.ID, 900)
	require.NoError(t, o.box.Webhook().Accept(t.Context(), wrong))
	o.until("payments", wrong.ID.String())
	require.Contains(t, o.do("reject "+wrong.ID.String()+" paid back"), "is rejected")
	require.Contains(t, o.do("reject "+wrong.ID.String()+" paid back"), "not possible in this stage")
}

// TestRejectedOrGiven: anyone who is first, the handler or the person, decides alone.
func TestRejectedOrGiven(t *testing.T) {
	t.Parallel()
	b, by := newBench(t), inbox.Decision{Actor: "Kim", Reason: "paid back"}
	given := b.pay("p-sword", 1000, account)
	require.ErrorContains(t, b.Reject(t.Context(), given, by), "there are units of it already")
	p := storePayment("p-sword", 1000)
	require.ErrorContains(t, b.Reject(t.Context(), p.ID.String(), inbox.Decision{}), "say who decides")
	require.NoError(t, b.Reject(t.Context(), p.ID.String(), by))
	require.ErrorIs(t, b.Reject(t.Context(), p.ID.String(), by), grant.ErrRejected)
	require.ErrorIs(t, b.handle(p), grant.ErrRejected)
	units, err := b.OfPayment(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Empty(t, units)
}

// TestTextsOfPlayers: what a player has chosen is no line of its own at the desk.
func TestTextsOfPlayers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.run(o.box.Run, func(ctx context.Context) error { return o.desk.Book.Run(ctx, newGame(true)) })
	p := storePayment(o.sword.ID, 1000)
	p.Identifier = "x\nfake:1:1  acc-1001  sword  granted at 2026-01-01T00:00:00Z\x1b[2J"
	require.NoError(t, o.box.Webhook().Accept(t.Context(), p))
	answer := o.until("pending", "needs review")
	require.Equal(t, 1, strings.Count(answer, "\n"), answer)
	require.NotContains(t, answer, "\x1b")
	require.Contains(t, answer, p.ID.String()+`:1:1  "x\nfake`)
}
