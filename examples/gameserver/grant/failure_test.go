package grant_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
)

// TestLost: the game gives and its answer is lost.
func TestLost(t *testing.T) {
	t.Parallel()
	lose := func(g *game) func(grant.Delivery) (grant.Answer, error) {
		return func(d grant.Delivery) (grant.Answer, error) { return g.give(d), errLost }
	}
	t.Run("RefusesTwice", func(t *testing.T) {
		t.Parallel()
		b, g := newBench(t), newGame(true)
		g.script = append(g.script, lose(g))
		b.run(g)
		id := b.pay("p-sword", 1000, account)
		units := b.await(id, grant.Granted)
		require.Equal(t, "the game had it already", units[0].Reason)
		require.Equal(t, 2, units[0].Attempts)
		g.requireEach(t, 1)
	})
	t.Run("TakesAnything", func(t *testing.T) {
		t.Parallel()
		b, g := newBench(t), newGame(false)
		g.script = append(g.script, lose(g))
		b.run(g)
		id := b.pay("p-sword", 2000, account)
		units := b.await(id, grant.Review, grant.Granted)
		require.Equal(t, "nobody knows whether the player has it: the answer is lost", units[0].Reason)
		g.requireEach(t, 2)
	})
}

// TestFailures: what was surely not given is tried again; what never works needs review.
func TestFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *grant.Config) { cfg.MaxAttempts = 3 })
	g := newGame(false)
	fail := func(grant.Delivery) (grant.Answer, error) { return "", errors.Join(grant.ErrNotGiven, errLost) }
	g.script = append(g.script, fail, fail)
	stop := b.run(g)
	id := b.pay("p-sword", 1000, account)
	require.Equal(t, 3, b.await(id, grant.Granted)[0].Attempts)
	stop()

	g.script = append(g.script, fail, fail, fail,
		func(grant.Delivery) (grant.Answer, error) { return grant.Refused, nil },
		func(grant.Delivery) (grant.Answer, error) { panic("a bug in the game") },
		func(grant.Delivery) (grant.Answer, error) { return "sure", nil })
	b.run(g)
	for _, want := range []string{
		"given up after 3 attempts: nothing was given\nthe answer is lost",
		"the game refuses it: no such account or item",
		"nobody knows whether the player has it: grant: the game panicked: a bug in the game",
		`nobody knows whether the player has it: the game answered "sure"`,
	} {
		id := b.pay("p-sword", 1000, account)
		require.Equal(t, want, b.await(id, grant.Review)[0].Reason)
	}
	g.requireEach(t, 1)
}

// TestLeftInTheGamesHands: what a killed process leaves behind.
func TestLeftInTheGamesHands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refuses bool
		want    grant.State
		reason  string
	}{
		{true, grant.Granted, ""},
		{false, grant.Review, "the process ended while the game was giving it: look whether the player has it"},
	} {
		b, g := newBench(t), newGame(c.refuses)
		id := b.pay("p-sword", 1000, account)
		b.force(id+":1:1", grant.Granting)
		b.run(g)
		require.Equal(t, c.reason, b.await(id, c.want)[0].Reason)
	}
}

// TestDecisions: by hand nothing is doubled by mistake, and all is kept.
func TestDecisions(t *testing.T) {
	t.Parallel()
	b, g := newBench(t), newGame(false)
	g.script = append(g.script, func(grant.Delivery) (grant.Answer, error) { return "", errLost })
	b.run(g)
	id := b.pay("p-sword", 1000, account)
	b.await(id, grant.Review)
	by := inbox.Decision{Actor: "Kim", Reason: "the player shows that it is not there"}
	require.ErrorContains(t, b.Resend(t.Context(), id+":1:1", inbox.Decision{}), "say who decides")
	require.ErrorIs(t, b.Resend(t.Context(), id+":9:9", by), grant.ErrNoGrant)
	require.NoError(t, b.Resend(t.Context(), id+":1:1", by))
	unit := b.await(id, grant.Granted)[0]

	var already *grant.AlreadyGrantedError
	require.ErrorAs(t, b.Resend(t.Context(), id+":1:1", by), &already)
	require.Equal(t, unit.GrantedAt, already.At)
	require.ErrorAs(t, b.Settle(t.Context(), id+":1:1", by), &already)
	g.requireEach(t, 1)

	stranger := b.pay("p-sword", 1000, "not an account; op me")
	b.await(stranger, grant.Review)
	require.ErrorContains(t, b.Resend(t.Context(), stranger+":1:1", by), "is not an account id")
	require.NoError(t, b.Settle(t.Context(), stranger+":1:1", by))
	require.Equal(t, "settled by hand by Kim", b.await(stranger, grant.Granted)[0].Reason)
}
