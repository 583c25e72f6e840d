package grant_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// office is an inbox with a book, a game, and a desk.
type office struct {
	t    *testing.T
	box  *inbox.Inbox
	desk *grant.Desk
}

func newOffice(t *testing.T, g grant.Game) *office {
	t.Helper()
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	catalogue, err := grant.NewCatalogue(grant.Product{ID: "p-sword", Price: payments.NewAmount(1000), Items: []string{"sword"}})
	require.NoError(t, err)
	book, err := grant.Open(t.Context(), ledger, catalogue)
	require.NoError(t, err)
	box, err := inbox.Open(t.Context(), inbox.Config{
		SQLite: ledger, Client: client, Handler: book.Handle, Catalogue: catalogue.Inbox(), ReconcileEvery: -1,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- box.Run(ctx) }()
	go func() { ended <- book.Run(ctx, g) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
		assert.NoError(t, <-ended)
		require.NoError(t, box.Close())
	})
	return &office{t, box, &grant.Desk{Book: book, Box: box}}
}

func (o *office) accept(p payments.Payment) (id string) {
	o.t.Helper()
	require.NoError(o.t, o.box.Webhook().Accept(o.t.Context(), p))
	return p.ID.String()
}

func (o *office) do(line string) string {
	var out strings.Builder
	require.NoError(o.t, o.desk.Do(o.t.Context(), &out, "Kim", line))
	return out.String()
}

// until types a command until the answer contains what is wanted.
func (o *office) until(line, want string) string {
	o.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		answer := o.do(line)
		if strings.Contains(answer, want) {
			return answer
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-limit:
			require.Contains(o.t, answer, want)
		}
	}
}

// TestDeskUnits: the operator sees a unit that needs review, gives it again, and cannot give
// it twice; the decision is shown.
func TestDeskUnits(t *testing.T) {
	t.Parallel()
	g := newGame(true, func(grant.Delivery) (grant.Answer, error) { return grant.Refused, nil })
	o := newOffice(t, g)
	require.Equal(t, "nothing waits\n", o.do("list"))
	id := o.accept(storePayment("p-sword", 1000, account))
	key := id + ":1"
	require.Contains(t, o.until("list", "needs review"), key+`  "`+account+`"  sword  needs review at `)
	require.Contains(t, o.do("retry "+key), "which unit or payment, and why?")
	require.Equal(t, "done: "+key+"\n", o.do("retry "+key+"  the item exists now"))
	o.until("show "+account, "granted at ")
	require.Contains(t, o.do("retry "+key+" again"), "already granted: "+key)
	require.Contains(t, o.do("settle "+key+" again"), "already granted: "+key)
	require.Contains(t, o.do("show "+id), "retry "+key+" by Kim: the item exists now\n")
	require.Equal(t, "nothing waits\n", o.do("list"))
	require.Contains(t, o.do("show nobody"), `no payment "nobody", and no units`)
	require.Contains(t, o.do("help"), "retry KEY")
	g.requireEach(t, 1)
}

// TestDeskPayments: a payment that became no units is listed with its reason, and decided: in
// review or dead, given as it is or closed.
func TestDeskPayments(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newGame(true))
	cheap := o.accept(storePayment("p-sword", 900, account))
	wrong := o.accept(storePayment("p-sword", 800, account))
	bare := o.accept(storePayment("", 1000, account))
	o.until("list", bare)
	require.Contains(t, o.do("list"), cheap+`  "`+account+`" paid 900  review  price_mismatch`)
	require.Equal(t, "done: "+cheap+"\n", o.do("retry "+cheap+" the price was changed"))
	o.until("show "+cheap, "granted at ")
	require.Contains(t, o.do("show "+cheap), "approve by Kim: the price was changed\n")
	require.Contains(t, o.do("retry "+cheap+" again"), "not possible in this stage")
	require.Equal(t, "done: "+wrong+"\n", o.do("settle "+wrong+" paid back"))
	require.NotContains(t, o.do("list"), wrong)
	require.Contains(t, o.do("settle "+wrong+" paid back"), "not possible in this stage")

	// The book cannot tell what the last one was for: it moves to the dead-letter list.
	o.do("retry " + bare + " it has a price")
	o.until("list", `dead  grant: the catalogue has no product with the id ""`)
	require.Equal(t, "done: "+bare+"\n", o.do("retry "+bare+" once more"))
	o.until("list", "dead  ")
	require.Equal(t, "done: "+bare+"\n", o.do("settle "+bare+" paid back"))
	require.Equal(t, "nothing waits\n", o.do("list"))
	require.Contains(t, o.do("settle "+bare+" paid back"), "nothing is given for this payment: Kim rejected it: paid back")

	// Another person retries it at the same moment: nothing is given.
	require.NoError(t, o.box.Retry(t.Context(), bare, inbox.Decision{Actor: "Lee", Reason: "it is fixed"}))
	o.until("show "+bare, "dead  grant: nothing is given for this payment: Kim rejected it")
	require.Equal(t, "nothing waits\n", o.do("list"))
	require.Contains(t, o.do("settle 9bb5bb65-cd48-4b04-89d5-b1848ab1a914 paid back"), "send its id to the webhook")
}

// TestTextsOfPlayers: text that a player has chosen makes no line of its own and does not
// control the terminal.
func TestTextsOfPlayers(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newGame(true))
	id := o.accept(storePayment("p-sword", 1000, "x\nfake:1  acc-1001  sword  granted\x1b[2J"))
	answer := o.until("list", "needs review")
	require.Equal(t, 1, strings.Count(answer, "\n"), answer)
	require.NotContains(t, answer, "\x1b")
	require.Contains(t, answer, id+`:1  "x\nfake`)
}
