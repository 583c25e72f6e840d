package grant_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// stranger is an account that the game does not know.
const stranger = "acc-0000"

// picky is a game that tells nothing about the stranger, and about nobody while it is down.
type picky struct {
	*game
	down  atomic.Bool
	asked atomic.Int64 // about the stranger
}

var errUnknown = errors.New("the game answered 404 Not Found")

func (g *picky) Player(ctx context.Context, who string) (grant.Player, error) {
	if who == stranger {
		g.asked.Add(1)
		return grant.Player{}, errUnknown
	}
	if g.down.Load() {
		return grant.Player{}, errLost
	}
	return g.game.Player(ctx, who)
}

// TestStranger: a player whom the game does not know holds up nobody, and needs review in
// the end.
func TestStranger(t *testing.T) {
	t.Parallel()
	b, g := newBench(t, func(cfg *grant.Config) { cfg.MaxAttempts = 3 }), &picky{game: newGame(false)}
	b.run(g)
	unknown := b.pay("p-sword", 1000, stranger)
	for {
		b.await(b.pay("p-sword", 1000, account), grant.Granted)
		units, err := b.OfPayment(t.Context(), unknown)
		require.NoError(t, err)
		if units[0].State == grant.Review {
			require.Contains(t, units[0].Reason, "attempts: the game does not report whether acc-0000 is online: the game answered 404")
			return
		}
		require.Equal(t, grant.Pending, units[0].State)
	}
}

// TestGameDown: while the game tells nothing about anybody, nothing is given up.
func TestGameDown(t *testing.T) {
	t.Parallel()
	b, g := newBench(t, func(cfg *grant.Config) { cfg.MaxAttempts = 1 }), &picky{game: newGame(false)}
	g.down.Store(true)
	stop := b.run(g)
	unknown := b.pay("p-sword", 1000, stranger)
	var waiting []string
	for range 5 {
		waiting = append(waiting, b.pay("p-sword", 1000, account))
	}
	require.Eventually(t, func() bool { return g.asked.Load() > 10 }, 20*time.Second, 2*time.Millisecond)
	stop()
	for _, id := range append(waiting, unknown) {
		require.Contains(t, b.await(id, grant.Pending)[0].Reason, "the game does not report whether ")
	}
	g.down.Store(false)
	b.run(g)
	for _, id := range waiting {
		b.await(id, grant.Granted)
	}
}

// TestStrangersInTheClaimBox: a look through the claim box goes past them.
func TestStrangersInTheClaimBox(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), &picky{game: newGame(false)}
	unknown := b.pay("p-sword", 1000, stranger)
	b.force(unknown+":1:1", grant.Claimable)
	known := b.pay("p-sword", 1000, account)
	b.force(known+":1:1", grant.Claimable)
	b.LookNow()
	b.run(g)
	b.await(known, grant.Granted)
	b.await(unknown, grant.Claimable)
}
