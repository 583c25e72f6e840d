package inbox_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/pgtest"
)

// onCluster is an inbox on a server that the test may stop.
func onCluster(t *testing.T) (*pgtest.Cluster, *inbox.Inbox) {
	t.Helper()
	cluster := pgtest.NewCluster(t)
	db, err := sql.Open("pgx", cluster.DSN("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return cluster, accepting(t, inbox.Config{DB: db})
}

// TestCloseAfterCrash: connections that the server has dropped are closed, and no error.
func TestCloseAfterCrash(t *testing.T) {
	t.Parallel()
	cluster, box := onCluster(t)
	require.NoError(t, box.Accept(t.Context(), nthPayment(1)))
	require.NoError(t, cluster.Stop("immediate"))
	require.NoError(t, box.Close())
}

// TestPollLostInOutage: a possible loss that happens while the server is away is written
// down when it is back.
func TestPollLostInOutage(t *testing.T) {
	t.Parallel()
	cluster, box := onCluster(t)
	require.NoError(t, cluster.Stop("immediate"))
	written := make(chan error, 1)
	go func() { written <- box.PollLost(t.Context(), errors.New("the answer was cut")) }()
	select {
	case err := <-written:
		require.Fail(t, "it was given up while the server was away", "%v", err)
	case <-time.After(300 * time.Millisecond): // tries in vain
	}
	require.NoError(t, cluster.Start())
	require.NoError(t, <-written)
	report, err := box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Len(t, report.PossibleLosses, 1)
	assert.Equal(t, "ambiguous: the answer was cut", report.PossibleLosses[0].Reason)
}
