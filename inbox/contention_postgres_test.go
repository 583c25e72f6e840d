package inbox_test

import (
	"database/sql"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestReplicasAcceptTheSame: replicas accept the same payments at the same time, each in
// an order of its own. The rows that two groups share are locked in one order, or the
// server breaks the deadlock with an error that a whole group gets.
func TestReplicasAcceptTheSame(t *testing.T) {
	t.Parallel()
	const replicas, callers, rounds = 4, 64, 20
	db := pgtest.New(t)
	boxes := make([]*inbox.Inbox, replicas)
	for i := range boxes {
		pool, err := sql.Open("pgx", db.DSN)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, pool.Close()) })
		boxes[i] = accepting(t, inbox.Config{DB: pool})
	}
	for round := range rounds {
		var all sync.WaitGroup
		errs := make(chan error, replicas*callers*2)
		for _, box := range boxes {
			for _, n := range rand.Perm(callers) {
				all.Go(func() {
					p := nthPayment(round*callers + n)
					if n%2 == 0 { // a hint first, as a webhook leaves it
						errs <- box.Webhook().RecordHint(t.Context(), p.ID)
					}
					errs <- box.Webhook().Accept(t.Context(), p)
				})
			}
		}
		all.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
	}
	var ready int
	require.NoError(t, db.DB.QueryRowContext(t.Context(), inbox.SQL(`SELECT count(*) FROM {p}payments WHERE stage = {ready}`)).Scan(&ready))
	require.Equal(t, callers*rounds, ready)
}
