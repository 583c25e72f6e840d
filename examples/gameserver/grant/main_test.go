package grant_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the tests provoke failures
	goleak.VerifyTestMain(m)
}

const account = "acc-1001"

var kim = inbox.Decision{Actor: "Kim", Reason: "the player asked"}

// bench is a book in a bubble, whose clock moves as soon as nothing else does.
type bench struct {
	t *testing.T
	*grant.Book
	ledger *inbox.SQLite
}

func inBubble(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newBench(t)) })
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	catalogue, err := grant.NewCatalogue(
		grant.Product{ID: "p-sword", Price: payments.NewAmount(1000), PerItem: true, Items: []string{"sword"}},
		grant.Product{ID: "p-pack", Price: payments.NewAmount(5000), Items: []string{"potion", "potion", "rank:hero"}},
	)
	require.NoError(t, err)
	book, err := grant.Open(t.Context(), ledger, catalogue)
	require.NoError(t, err)
	return &bench{t, book, ledger}
}

func storePayment(product string, amount int64, who string) payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: who, Status: payments.StatusComplete, PaidAmount: payments.NewAmount(amount),
		Metadata: payments.Metadata{GameProduct: product},
	}
}

// pay handles a payment of the game store as the inbox does.
func (b *bench) pay(product string, amount int64, who string) (id string) {
	b.t.Helper()
	p := storePayment(product, amount, who)
	require.NoError(b.t, b.handle(p))
	return p.ID.String()
}

func (b *bench) handle(p payments.Payment) error {
	tx, err := b.ledger.Writer.BeginTx(b.t.Context(), nil)
	require.NoError(b.t, err)
	if err := b.Handle(b.t.Context(), tx, p); err != nil {
		require.NoError(b.t, tx.Rollback())
		return err
	}
	require.NoError(b.t, tx.Commit())
	return nil
}

// run runs the worker until the returned function is called.
func (b *bench) run(g grant.Game) (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, g) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(b.t, <-done)
	})
	b.t.Cleanup(stop)
	return stop
}

// after lets time pass, and requires the states of a payment's units then.
func (b *bench) after(wait time.Duration, payment string, want ...grant.State) []grant.Grant {
	b.t.Helper()
	<-time.After(wait)
	synctest.Wait()
	units, err := b.OfPayment(b.t.Context(), payment)
	require.NoError(b.t, err)
	var got []grant.State
	for _, u := range units {
		got = append(got, u.State)
	}
	require.Equal(b.t, want, got)
	return units
}

// game answers by script, and then gives.
type game struct {
	refuses bool
	mu      sync.Mutex // of all below
	online  bool
	free    int
	calls   []string // keys, in order
	given   map[string]int
	script  []func(d grant.Delivery) (grant.Answer, error)
}

func newGame(refuses bool, script ...func(d grant.Delivery) (grant.Answer, error)) *game {
	return &game{refuses: refuses, online: true, free: 1000, given: map[string]int{}, script: script}
}

func (g *game) Refuses() bool { return g.refuses }

func (g *game) Give(_ context.Context, d grant.Delivery) (grant.Answer, error) {
	if next := g.called(d); next != nil {
		return next(d)
	}
	return g.give(d), nil
}

// called counts the call and returns the script's answer to it, if there is one.
func (g *game) called(d grant.Delivery) (next func(grant.Delivery) (grant.Answer, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, d.Key)
	if len(g.script) > 0 {
		next, g.script = g.script[0], g.script[1:]
	}
	return next
}

// then adds to the script while the worker runs.
func (g *game) then(script ...func(grant.Delivery) (grant.Answer, error)) {
	g.set(func() { g.script = append(g.script, script...) })
}

// set changes the game while the worker runs.
func (g *game) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func (g *game) give(d grant.Delivery) grant.Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.refuses && g.given[d.Key] > 0:
		return grant.AlreadyGranted
	case !g.online:
		return grant.Offline
	case g.free == 0 && d.Item != "rank:hero":
		return grant.Full
	}
	g.given[d.Key]++
	g.free--
	return grant.Given
}

// requireEach requires n units, each given once.
func (g *game) requireEach(t *testing.T, n int) {
	t.Helper()
	require.Len(t, g.given, n)
	for key, times := range g.given {
		require.Equal(t, 1, times, key)
	}
}

var errLost = errors.New("the answer is lost")

// lose gives, and loses the answer.
func lose(g *game) func(grant.Delivery) (grant.Answer, error) {
	return func(d grant.Delivery) (grant.Answer, error) { return g.give(d), errLost }
}
