package inbox_test

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// TestClaimCutAfterItsRows: every payment is handed over once, and Run ends, although a
// connection is cut after a claim has returned its rows and before it has said that these
// were all. The rows of the first try must not be added to those of the second one.
func TestClaimCutAfterItsRows(t *testing.T) {
	t.Parallel()
	const n = 40
	var armed, cut atomic.Bool
	db := pgtest.New(t).Tapped(t, &pgtest.Tap{CutAfterRows: func(query string, rows int) bool {
		claim := strings.Contains(query, "tries = tries + 1") && strings.Contains(query, "leased = ")
		return claim && rows > 1 && armed.CompareAndSwap(true, false) && cut.CompareAndSwap(false, true)
	}})
	handled := make(chan string, 10*n)
	cfg := inbox.WithLease(inbox.Config{
		DB: db, Client: nobody{}, AcceptUnknown: true, ReconcileEvery: -1, Logger: slog.New(slog.DiscardHandler),
		Handler: func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			handled <- p.ID.String()
			return nil
		},
	}, time.Second)
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, box.Close()) })
	for i := range n {
		require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(i)))
	}
	armed.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	times := map[string]int{}
	limit := time.After(patience)
	for len(times) < n {
		select {
		case id := <-handled:
			times[id]++
		case <-limit:
			require.FailNow(t, "hand-over has stopped", "%d of %d payments were handed over", len(times), n)
		}
	}
	stop()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(patience):
		require.FailNow(t, "Run does not end")
	}
	assert.True(t, cut.Load())
	for id, k := range times {
		assert.Equal(t, 1, k, id)
	}
}
