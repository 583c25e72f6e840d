package grant_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// TestGiven: each unit is given once under its own key, and none again after a restart.
func TestGiven(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false)
		stop := b.run(g)
		id := b.pay("p-sword", 3000, account)
		units := b.after(time.Second, id, grant.Granted, grant.Granted, grant.Granted)
		require.Equal(t, id+":1", units[0].Key)
		require.Equal(t, id+":3", units[2].Key)
		stop()
		b.run(g)
		b.after(time.Second, b.pay("p-pack", 5000, account), grant.Granted, grant.Granted, grant.Granted)
		g.requireEach(t, 6)
	})
}

// TestOneWorker: a second Run fails, since it would take the first one's call for abandoned.
func TestOneWorker(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		b.run(newGame(true))
		b.after(time.Second, b.pay("p-sword", 1000, account), grant.Granted)
		require.ErrorIs(t, b.Run(t.Context(), newGame(true)), grant.ErrRunning)
	})
}

// TestWaits: units wait for a player who is offline and for room, until the player joins or a
// minute passes. A full inventory holds up no item that needs no room.
func TestWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false)
		g.online, g.free = false, 0
		b.run(g)
		id := b.pay("p-pack", 5000, account)
		units := b.after(50*time.Second, id, grant.Pending, grant.Pending, grant.Pending)
		for _, u := range units {
			require.Equal(t, "the player is offline", u.Reason)
		}
		require.Len(t, g.calls, 1, "the others are not tried")

		g.set(func() { g.online = true })
		n, err := b.Joined(t.Context(), account)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		units = b.after(time.Second, id, grant.Pending, grant.Pending, grant.Granted)
		require.Equal(t, "the inventory is full", units[1].Reason)
		require.Len(t, g.calls, 3, "one potion is tried, not both")

		g.set(func() { g.free = 1 })
		b.after(50*time.Second, id, grant.Pending, grant.Pending, grant.Granted)
		b.after(11*time.Second, id, grant.Granted, grant.Pending, grant.Granted)
		g.set(func() { g.free = 1 })
		b.after(time.Minute, id, grant.Granted, grant.Granted, grant.Granted)
		g.requireEach(t, 3)
	})
}

// TestJoinsDuringTheCall: a player who joins while the game answers "offline" does not wait.
func TestJoinsDuringTheCall(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false, func(grant.Delivery) (grant.Answer, error) {
			_, err := b.Joined(t.Context(), account) // at this moment no unit waits
			return grant.Offline, err
		})
		b.run(g)
		b.after(time.Second, b.pay("p-sword", 1000, account), grant.Granted)
		g.requireEach(t, 1)
	})
}

// TestTurns: a player who bought a lot does not hold up the others.
func TestTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false)
		b.pay("p-sword", 50_000, account)
		second, third := b.pay("p-sword", 1000, "acc-2"), b.pay("p-sword", 1000, "acc-3")
		b.run(g)
		b.after(time.Second, second, grant.Granted)
		g.requireEach(t, 52)
		require.Equal(t, []string{second + ":1", third + ":1"}, g.calls[1:3])
	})
}

// TestLost: with the game's answer lost, a unit arrives once with a game that refuses keys,
// and needs review with any other.
func TestLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(true)
		g.script = append(g.script, lose(g))
		stop := b.run(g)
		id := b.pay("p-sword", 1000, account)
		b.after(50*time.Second, id, grant.Pending)
		units := b.after(11*time.Second, id, grant.Granted)
		require.Equal(t, "the game had it already", units[0].Reason)
		g.requireEach(t, 1)
		stop()

		g = newGame(false)
		g.script = append(g.script, lose(g))
		b.run(g)
		units = b.after(2*time.Minute, b.pay("p-sword", 2000, account), grant.Review, grant.Granted)
		require.Equal(t, "it is unknown whether the player has it: the answer is lost", units[0].Reason)
		g.requireEach(t, 2)
	})
}

// TestFailures: what was surely not given is tried again, for as long as it takes; what will
// never work, or is unclear, needs review.
func TestFailures(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(false)
		for range 20 {
			g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) { return "", errors.Join(grant.ErrNotGiven, errLost) })
		}
		b.run(g)
		id := b.pay("p-sword", 1000, account)
		b.after(19*time.Minute, id, grant.Pending)
		b.after(3*time.Minute, id, grant.Granted)
		g.then(
			func(grant.Delivery) (grant.Answer, error) { return grant.Refused, nil },
			func(grant.Delivery) (grant.Answer, error) { panic("a bug in the game") },
			func(grant.Delivery) (grant.Answer, error) { return "sure", nil })
		for _, want := range []string{
			"the game refuses it: no such account or item",
			"it is unknown whether the player has it: the game panicked: a bug in the game",
			`it is unknown whether the player has it: the game answered "sure"`,
		} {
			require.Equal(t, want, b.after(5*time.Second, b.pay("p-sword", 1000, account), grant.Review)[0].Reason)
		}
		g.requireEach(t, 1)
	})
}

// TestFailingPlayer: an account for which the game always fails holds up the others for
// seconds, and is never given up.
func TestFailingPlayer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		g := newGame(true)
		fail := func(grant.Delivery) (grant.Answer, error) { return "", errLost }
		b.run(g)
		for range 10 {
			g.then(fail)
			bad := b.pay("p-sword", 1000, "acc-0")
			b.after(3*time.Second, b.pay("p-sword", 1000, account), grant.Granted)
			b.after(0, bad, grant.Pending)
		}
	})
}

// TestKilledDuringTheCall: a unit that a killed process left in the game's hands is asked for
// again, or needs review.
func TestKilledDuringTheCall(t *testing.T) {
	t.Parallel()
	for refuses, want := range map[bool]grant.State{true: grant.Granted, false: grant.Review} {
		inBubble(t, func(t *testing.T, b *bench) {
			id := b.pay("p-sword", 1000, account)
			_, err := b.ledger.Writer.ExecContext(t.Context(), `UPDATE grants SET state = 'granting'`)
			require.NoError(t, err)
			b.run(newGame(refuses))
			b.after(time.Second, id, want)
		})
	}
}
