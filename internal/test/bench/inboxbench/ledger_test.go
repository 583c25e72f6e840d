package inboxbench_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
)

// aged is a ledger whose acceptances and hand-overs are measured in one side.
type aged struct {
	db       database
	box      *inbox.Inbox
	grants   *empty
	accepted []paired.Sample
}

func newAged(t *testing.T, db database) *aged {
	t.Helper()
	a := &aged{db: db, grants: newEmpty()}
	a.box = openBox(t, db, func(c *inbox.Config) { c.Handler = a.grants.handle })
	return a
}

func (a *aged) side(name string, n int) paired.Side {
	return paired.Side{
		Name: name,
		Before: func(t *testing.T) {
			a.accepted = append(a.accepted, paired.Calls(n, callers, func() error { return a.box.Webhook().Accept(t.Context(), record(uuid.New())) })(t))
		},
		Round: func(t *testing.T) paired.Sample { return a.grants.drain(t, a.db, a.box, n) },
	}
}

// acceptances are those of the rounds that count.
func (a *aged) acceptances() []paired.Sample { return a.accepted[1:] }

// TestHistory: a ledger with a million payments works like an empty one.
func TestHistory(t *testing.T) {
	paired.Enabled(t)
	const payments = 10_000
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			old, young := newAged(t, d.open(t)), newAged(t, d.open(t))
			fill(t, d.name, old.db)
			glance(t, d.name, old)
			got := paired.Compare(t, old.side("hand-over, 1,000,000 payments done", payments), young.side("hand-over, empty ledger", payments))
			const goal = 0.85
			paired.Ratio(t, d.name+" accept: rate with 1,000,000 payments done ÷ empty", old.acceptances(), young.acceptances(), paired.Rate, paired.AtLeast(goal))
			paired.Ratio(t, d.name+" claim and hand-over: rate with 1,000,000 payments done ÷ empty", got[0], got[1], paired.Rate, paired.AtLeast(goal))
		})
	}
}

// glance measures what counts: Status, which people call, and the count of hints, which Run
// does about once a second.
func glance(t *testing.T, name string, a *aged) {
	t.Helper()
	const times = 5
	fastest := func(what string, call func() error) {
		best := time.Hour
		for range times {
			began := time.Now()
			require.NoError(t, call())
			best = min(best, time.Since(began))
		}
		paired.Duration(t, name+", 1,000,000 payments done: "+what, best, paired.Goal{})
	}
	fastest("Status", func() error {
		status, err := a.box.Status(t.Context())
		require.Equal(t, int64(inbox.CountLimit), status.Count[inbox.StageDone])
		return err
	})
	fastest("the count of 10,000 hints", func() error {
		var n int
		err := a.db.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM depositpay_payments WHERE stage = 1 AND own = 0`).Scan(&n)
		require.Equal(t, historyHint, n)
		return err
	})
}
