package grant_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// office is a merchant with an inbox against the mock, and a desk.
type office struct {
	t      *testing.T
	mock   *mockserver.Server
	client *payments.Client
	box    *inbox.Inbox
	watch  *grant.Watch
	desk   *grant.Desk
	sword  mockserver.Product
	log    strings.Builder
}

func newOffice(t *testing.T, change ...func(*inbox.Config)) *office {
	o := &office{t: t, mock: mockserver.RunT(t)}
	var err error
	o.sword, err = o.mock.SaveProduct(mockserver.Product{Name: "Sword", Price: 1000})
	require.NoError(t, err)
	_, err = o.mock.SaveStoreUser(mockserver.StoreUser{ID: account, Name: "Steve"})
	require.NoError(t, err)
	o.client, err = payments.New(payments.Config{BaseURL: o.mock.URL(), Token: o.mock.Token()})
	require.NoError(t, err)
	t.Cleanup(o.client.CloseIdleConnections)
	ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	catalogue, err := grant.NewCatalogue(grant.Product{ID: o.sword.ID, Name: "Sword", Price: payments.NewAmount(1000), Lines: []grant.Line{{Item: "sword"}}})
	require.NoError(t, err)
	book, err := grant.Open(t.Context(), grant.Config{SQLite: ledger, Catalogue: catalogue, Every: 2 * time.Millisecond})
	require.NoError(t, err)
	o.watch = &grant.Watch{Client: o.client, Margin: time.Nanosecond, Logger: slog.New(slog.NewTextHandler(&o.log, nil))}
	cfg := inbox.Config{SQLite: ledger, Client: o.watch, Handler: book.Handle, Catalogue: catalogue.Inbox(), ReconcileEvery: -1}
	for _, f := range change {
		f(&cfg)
	}
	o.box, err = inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.box.Close()) })
	p, err := poller.New(poller.Config{Client: o.client, Ledger: o.box.Poller(), IntervalMin: time.Millisecond})
	require.NoError(t, err)
	o.desk = &grant.Desk{Book: book, Box: o.box, Poller: p, Watch: o.watch, Secrets: []string{o.mock.Token(), ""}}
	return o
}

// run runs parts until the returned function is called.
func (o *office) run(parts ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(o.t.Context())
	var all sync.WaitGroup
	for _, run := range parts {
		all.Go(func() { assert.NoError(o.t, run(ctx)) })
	}
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	o.t.Cleanup(stop)
	return stop
}

func (o *office) sell() uuid.UUID {
	p, err := o.mock.Buy(o.sword.ID, account)
	require.NoError(o.t, err)
	_, err = o.mock.Deposit(p.ID, mockserver.Deposit{})
	require.NoError(o.t, err)
	return uuid.MustParse(p.ID)
}

func (o *office) do(line string) string {
	var out strings.Builder
	require.NoError(o.t, o.desk.Do(o.t.Context(), &out, "Kim", line))
	return out.String()
}

// until types a command until the answer has what is wanted.
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

// TestDesk: each command of the operator.
func TestDesk(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	g := newGame(true)
	g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) { return grant.Refused, nil })
	o.run(o.desk.Poller.Run, o.box.Run, func(ctx context.Context) error { return o.desk.Book.Run(ctx, g) })
	key := o.sell().String() + ":1:1"
	require.Contains(t, o.until("pending", "needs review"), key+"  "+account+"  sword  needs review: the game refuses it")
	require.Equal(t, key+" will be given again\n", o.do("resend "+key+" the item exists now"))
	o.until("history "+account, "granted at ")
	require.Contains(t, o.do("resend "+key), key+" was already granted at ")
	require.Contains(t, o.do("settle "+key), key+" was already granted at ")
	require.Equal(t, "nothing is pending\n", o.do("pending"))
	require.Equal(t, "no units for nobody\n", o.do("history nobody"))
	require.Contains(t, o.do("check"), "1 payments received by polls")
	require.Contains(t, o.do("recover x"), `"x" is not a payment id`)
	require.Contains(t, o.do("help"), "resend KEY")
	require.Equal(t, "there is no command \"op\"; try help\n", o.do("op me"))
	g.requireEach(t, 1)
}

// TestReport: it says how all stands, and neither the token nor the players.
func TestReport(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	g := newGame(false)
	g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) {
		return "", fmt.Errorf("GET /x?token=%s&who=%s: %w", o.mock.Token(), account, errLost)
	})
	o.run(o.desk.Poller.Run, o.box.Run, func(ctx context.Context) error { return o.desk.Book.Run(ctx, g) })
	o.sell()
	o.until("pending", "needs review")
	report := o.do("report")
	for _, want := range []string{"payments done: 1", "units needs review: 1", "sword: nobody knows whether the player has it: GET /x?token=[removed]&who=[player]", "payments completed by another poller: 0", "received 1"} {
		require.Contains(t, report, want)
	}
	require.NotContains(t, report, o.mock.Token())
	require.NotContains(t, report, account)
}

// TestRecover: what the dashboard shows and the ledger does not is fetched by its id.
func TestRecover(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.sell()
	_, err := o.client.Next(t.Context()) // taken, and never written down
	require.NoError(t, err)
	o.run(o.box.Run, func(ctx context.Context) error { return o.desk.Book.Run(ctx, newGame(true)) })
	require.Contains(t, o.do("recover "+id.String()), id.String()+" is in the ledger: ")
	o.until("history "+account, "granted at ")

	unpaid, err := o.mock.Buy(o.sword.ID, account)
	require.NoError(t, err)
	require.Contains(t, o.do("recover "+unpaid.ID), "not now, and it is asked for again by itself: ")
}
