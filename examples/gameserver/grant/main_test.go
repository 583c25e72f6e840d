package grant_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what goes wrong here is meant to
	goleak.VerifyTestMain(m)
}

const account = "acc-1001"

// products are what the tests sell.
func products() []grant.Product {
	return []grant.Product{
		{ID: "p-sword", Name: "Sword", Price: payments.NewAmount(1000), PerItem: true, Lines: []grant.Line{{Item: "sword", Slots: 1}}},
		{ID: "p-pack", Name: "Hero pack", Price: payments.NewAmount(5000), PerItem: true, Lines: []grant.Line{
			{Item: "rank:hero", OncePerOrder: true}, {Item: "potion", Count: 3, Slots: 1},
		}},
	}
}

// bench is a book with a game at its side.
type bench struct {
	t *testing.T
	*grant.Book
	cfg grant.Config
}

func newBench(t *testing.T, change ...func(*grant.Config)) *bench {
	t.Helper()
	ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	catalogue, err := grant.NewCatalogue(products()...)
	require.NoError(t, err)
	b := &bench{t: t, cfg: grant.Config{
		SQLite: ledger, Catalogue: catalogue, Every: 2 * time.Millisecond, LookEvery: -1,
		BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond, GameTimeout: 5 * time.Second,
	}}
	for _, f := range change {
		f(&b.cfg)
	}
	b.Book, err = grant.Open(t.Context(), b.cfg)
	require.NoError(t, err)
	return b
}

// pay is a payment of the game store, handed over as the inbox does.
func (b *bench) pay(product string, amount int64, who string) (id string) {
	b.t.Helper()
	p := payments.Payment{
		ID: uuid.New(), Identifier: who, Status: payments.StatusComplete, PaidAmount: payments.NewAmount(amount),
		Metadata: payments.Metadata{GameProduct: product},
	}
	require.NoError(b.t, b.handle(p))
	return p.ID.String()
}

func (b *bench) handle(p payments.Payment) error {
	tx, err := b.cfg.SQLite.Writer.BeginTx(b.t.Context(), nil)
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

// await waits until the units of a payment are in these states, in order.
func (b *bench) await(payment string, want ...grant.State) []grant.Grant {
	b.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		units, err := b.OfPayment(b.t.Context(), payment)
		require.NoError(b.t, err)
		var got []grant.State
		for _, u := range units {
			got = append(got, u.State)
		}
		if slices.Equal(got, want) {
			return units
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			require.Equal(b.t, want, got)
		}
	}
}

// force puts a unit where a killed process would have left it.
func (b *bench) force(key string, s grant.State) {
	_, err := b.cfg.SQLite.Writer.ExecContext(b.t.Context(), `UPDATE grants SET state = $2 WHERE grant_key = $1`, key, s)
	require.NoError(b.t, err)
}

// game is a game of a test: it plays by the script of the answers, then gives.
type game struct {
	refuses bool

	mu     sync.Mutex
	online bool
	free   int
	calls  []string // keys, in order
	given  map[string]int
	script []func(d grant.Delivery) (grant.Answer, error)
}

func newGame(refuses bool) *game {
	return &game{refuses: refuses, online: true, free: 100, given: map[string]int{}}
}

func (g *game) Refuses() bool { return g.refuses }

func (g *game) Player(context.Context, string) (grant.Player, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return grant.Player{Online: g.online, Free: g.free}, nil
}

func (g *game) Give(_ context.Context, d grant.Delivery) (grant.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, d.Key)
	if len(g.script) > 0 {
		next := g.script[0]
		g.script = g.script[1:]
		return next(d)
	}
	return g.give(d), nil
}

func (g *game) give(d grant.Delivery) grant.Answer {
	if g.refuses && g.given[d.Key] > 0 {
		return grant.AlreadyGranted
	}
	g.given[d.Key]++
	g.free -= d.Slots
	return grant.Given
}

func (g *game) set(online bool, free int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.online, g.free = online, free
}

// requireEach wants each of n units to have been given once.
func (g *game) requireEach(t *testing.T, n int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	require.Len(t, g.given, n)
	for key, times := range g.given {
		require.Equal(t, 1, times, key)
	}
}

var errLost = errors.New("the answer is lost")
