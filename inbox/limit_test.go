package inbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestListIsNotBounded: List takes as long as its caller lets it, since each page may sort the whole ledger; other
// statements on PostgreSQL are bounded.
func TestListIsNotBounded(t *testing.T) {
	s := newStand(t, true, nil)
	s.accept(nthPayment(1))
	inbox.LimitStatements(s.box, time.Nanosecond)
	_, err := s.box.Get(t.Context(), nthPayment(1).ID.String())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var keys []string
	for e, err := range s.box.List(t.Context(), inbox.Filter{}) {
		require.NoError(t, err)
		keys = append(keys, e.Key)
	}
	require.Equal(t, []string{nthPayment(1).ID.String()}, keys)
}

// TestRetentionWaitsForTheWriter: no statement of retention is bounded on SQLite, where a handler may hold the writer
// for as long as its HandlerTimeout.
func TestRetentionWaitsForTheWriter(t *testing.T) {
	s := retiring(t, false, grant)
	s.accept(nthPayment(1))
	s.accept(nthPayment(1)) // a repeat leaves a receipt
	s.age(keepBodies + time.Hour)
	inbox.LimitStatements(s.box, time.Nanosecond)
	require.Zero(t, s.bodies())
}
