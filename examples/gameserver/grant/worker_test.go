package grant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// TestGiven: each unit once, under its own key, and none again when the worker starts again.
func TestGiven(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	stop := b.run(g)
	id := b.pay("p-pack", 10_000, account) // two packs: one rank, six potions
	units := b.await(id, "granted", "granted", "granted", "granted", "granted", "granted", "granted")
	require.Equal(t, id+":1:1", units[0].Key)
	require.Equal(t, "rank:hero", units[0].Item)
	require.Equal(t, id+":2:6", units[6].Key)
	require.False(t, units[6].GrantedAt.IsZero())
	stop()
	b.run(g)
	second := b.pay("p-sword", 1000, account)
	b.await(second, grant.Granted)
	g.requireEach(t, 8)
}

// TestOneWorker: a second one would give at once what the first one gives.
func TestOneWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run(newGame(true))
	id := b.pay("p-sword", 1000, account)
	b.await(id, grant.Granted) // it runs
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.ErrorIs(t, b.Run(ctx, newGame(true)), grant.ErrRunning)
}

// TestClaimBox: offline and full go to the claim box; a join and /claim empty it.
func TestClaimBox(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.set(false, 2)
	b.run(g)
	id := b.pay("p-pack", 5000, account)
	units := b.await(id, grant.Claimable, grant.Claimable, grant.Claimable, grant.Claimable)
	require.Equal(t, "the player is offline", units[0].Reason)
	require.Empty(t, g.calls, "nothing is tried for a player who is not there")

	g.set(true, 2)
	n, err := b.Joined(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	units = b.await(id, grant.Granted, grant.Granted, grant.Granted, grant.Claimable)
	require.Equal(t, "the inventory is full", units[3].Reason)

	g.set(true, 1)
	n, err = b.Claim(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	b.await(id, grant.Granted, grant.Granted, grant.Granted, grant.Granted)
	g.requireEach(t, 4)
}

// TestJoinedNobody: an empty account is not everybody.
func TestJoinedNobody(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.set(false, 0)
	b.run(g)
	id := b.pay("p-sword", 1000, account)
	b.await(id, grant.Claimable)
	n, err := b.Joined(t.Context(), "")
	require.NoError(t, err)
	require.Zero(t, n)
	b.await(id, grant.Claimable)
}

// TestLeaves: the batch stops when the player leaves in the middle of it.
func TestLeaves(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.script = append(g.script, func(d grant.Delivery) (grant.Answer, error) {
		g.online = false
		return g.give(d), nil
	})
	b.run(g)
	id := b.pay("p-pack", 5000, account)
	b.await(id, grant.Granted, grant.Claimable, grant.Claimable, grant.Claimable)
	require.Len(t, g.calls, 1)
}

// TestJoinsMeanwhile: a player who joins between the look and the claim box is not left
// waiting for the next join.
func TestJoinsMeanwhile(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) {
		_, err := b.Joined(t.Context(), account) // at this moment nothing is in the box
		return grant.Offline, err
	})
	b.run(g)
	id := b.pay("p-sword", 1000, account)
	b.await(id, grant.Granted)
	g.requireEach(t, 1)
}

// TestLook: a game without a join event is asked, now and then or at the operator's word.
func TestLook(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.set(true, 0)
	b.run(g)
	id := b.pay("p-sword", 2000, account)
	b.await(id, grant.Claimable, grant.Claimable)
	g.set(true, 5)
	b.LookNow()
	b.await(id, grant.Granted, grant.Granted)
	g.requireEach(t, 2)
}

// TestTurns: who has bought a lot does not keep the others waiting.
func TestTurns(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.set(true, -1)
	const lot = 5 * grant.BatchSize
	b.pay("p-sword", 1000*lot, "acc-lot")
	second := b.pay("p-sword", 1000, account)
	third := b.pay("p-sword", 1000, "acc-third")
	b.run(g)
	require.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.calls) == lot+2
	}, 20*time.Second, 2*time.Millisecond)
	g.requireEach(t, lot+2)
	require.Equal(t, []string{second + ":1:1", third + ":1:1"}, g.calls[grant.BatchSize:grant.BatchSize+2])
}
