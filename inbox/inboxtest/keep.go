package inboxtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// testUnreadablePoll: bytes that a poll returned and nobody can read are kept as they
// came, in review, and are a possible loss until a person has looked.
func testUnreadablePoll(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	s.run()
	raw := []byte("{\"id\":\"\x00\xff")
	lost := fmt.Errorf("poll: %w", &payments.Error{Raw: raw})
	require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), lost))
	var kept []inbox.Entry
	require.Eventually(t, func() bool {
		kept = nil
		for e, err := range s.box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}}) {
			require.NoError(t, err)
			kept = append(kept, e)
		}
		return len(kept) == 1
	}, timeLimit, tickTime)
	require.Equal(t, string(inbox.ReasonUnreadable), kept[0].Reason)
	require.Equal(t, string(raw), kept[0].Unreadable)
	require.ErrorIs(t, s.box.Approve(t.Context(), kept[0].Key, decision), inbox.ErrStage, "nobody knows what it grants")
	require.NoError(t, s.box.Reject(t.Context(), kept[0].Key, decision))
	require.Equal(t, "rejected: unreadable", s.await(kept[0].Key, inbox.StageDead).Reason)
	report := s.reconcile()
	require.Len(t, report.PossibleLosses, 1)
	require.Contains(t, report.PossibleLosses[0].Reason, "ambiguous")
}

// testPollWithoutStore: nothing is polled while the database does not answer.
func testPollWithoutStore(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, nil)
	journal := s.box.Poller().Begin()
	_, err := journal.BeforePoll(t.Context())
	require.NoError(t, err)
	_, err = journal.BeforePoll(t.Context())
	require.NoError(t, err)
	reader := s.db.DB
	if s.db.SQLite != nil {
		reader = s.db.SQLite.Reader
	}
	require.NoError(t, reader.Close())
	_, err = journal.BeforePoll(t.Context())
	require.ErrorContains(t, err, "the store is down")
}

// testStatus: every stage is counted, and the age is that of what waits for its handler.
func testStatus(t *testing.T, open func(*testing.T) Database) {
	s := newShop(t, open, func(c *inbox.Config) { c.MaxAttempts = 1 })
	status := func() inbox.Status {
		_, err := s.box.Reconcile(t.Context()) // what was accepted is in the ledger then
		require.NoError(t, err)
		status, err := s.box.Status(t.Context())
		require.NoError(t, err)
		return status
	}
	require.Equal(t, inbox.Status{Count: map[inbox.Stage]int64{}}, status())

	stop := s.run()
	done, dead, review := paid("order-1", 1), paid("order-2", 1), paid("nobody's", 1)
	done.ID = s.order("order-1", 1)
	s.accept(done)
	s.requireGrantedOnce(done.ID.String())
	s.setHandler((&failing{outcome: func(int) error { return errHandler }}).handle)
	dead.ID = s.order("order-2", 1)
	s.accept(dead)
	s.await(dead.ID.String(), inbox.StageDead)
	s.accept(review)
	s.await(review.ID.String(), inbox.StageReview)
	stop()

	s.order("order-3", 1)
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), paid("", 0).ID))
	ready := paid("order-4", 1)
	s.accept(ready)
	require.Equal(t, map[inbox.Stage]int64{
		inbox.StageExpected: 1, inbox.StageHint: 1, inbox.StageReady: 1,
		inbox.StageDone: 1, inbox.StageReview: 1, inbox.StageDead: 1,
	}, status().Count)
	var age time.Duration
	require.Eventually(t, func() bool {
		s, err := s.box.Status(t.Context())
		age = s.OldestReady
		return err == nil && age > 0
	}, timeLimit, tickTime, "it waits")
	require.Less(t, age, time.Hour)
}
