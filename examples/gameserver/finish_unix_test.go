//go:build unix

package main

import (
	"context"
	"io"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
)

// finish is the server that is not killed, and the operator.
func (o *ordeal) finish() {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := open(ctx, quick(o.cfg))
	require.NoError(o.t, err)
	served := make(chan error, 1)
	ready := make(chan struct{})
	go func() { served <- s.serve(ctx, func() { close(ready) }) }()
	<-ready
	o.awaitPolled()
	o.recoverLost(s)
	review := o.awaitSettled(s)
	missing := o.world.requireOnce(o.t, o.wanted, review)
	o.t.Logf("%d units; %d need review, %d of these were not given; the game was asked %d times for what it had",
		len(o.wanted), len(review), missing, o.world.asked)
	if o.world.refuses {
		require.Empty(o.t, review)
	} else {
		require.LessOrEqual(o.t, len(review), o.kills, "one unit at a time is in the game's hands")
		require.Zero(o.t, o.world.asked)
	}
	cancel()
	require.NoError(o.t, <-served)
}

// awaitPolled waits until the service has nothing more to tell.
func (o *ordeal) awaitPolled() {
	o.await("payments wait at the service", func() bool {
		for _, id := range o.paid {
			if p, _ := o.mock.Payment(id); p.Status != mockserver.StatusComplete {
				return false
			}
		}
		return true
	})
}

// recoverLost: what the dashboard shows and the ledger does not was taken by a poll whose
// answer died with a process. Each is a possible loss on the report, and the operator
// fetches it.
func (o *ordeal) recoverLost(s *server) {
	ctx := o.t.Context()
	lost := 0
	for _, id := range o.paid {
		if _, err := s.box.Get(ctx, id); err == nil {
			continue
		} else {
			require.ErrorIs(o.t, err, inbox.ErrNotFound)
		}
		lost++
		require.NoError(o.t, s.desk.Do(ctx, io.Discard, "the test", "recover "+id))
	}
	report, err := s.box.Reconcile(ctx)
	require.NoError(o.t, err)
	o.t.Logf("%d payments were lost with an answer, %d possible losses are reported", lost, len(report.PossibleLosses))
	require.LessOrEqual(o.t, lost, len(report.PossibleLosses), "no loss is silent")
}

// awaitSettled waits until every unit is granted or needs review.
func (o *ordeal) awaitSettled(s *server) (review map[string]bool) {
	o.await("units are under way", func() bool {
		counts, err := s.book.Counts(o.t.Context())
		require.NoError(o.t, err)
		return counts[grant.Granted]+counts[grant.Review] == len(o.wanted)
	})
	waiting, err := s.book.Waiting(o.t.Context(), 0)
	require.NoError(o.t, err)
	review = map[string]bool{}
	for _, g := range waiting {
		review[g.Key] = true
	}
	return review
}

func (o *ordeal) await(what string, done func() bool) {
	o.t.Helper()
	limit := time.After(3 * time.Minute)
	for !done() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			require.Fail(o.t, what+" for ever")
		}
	}
}
