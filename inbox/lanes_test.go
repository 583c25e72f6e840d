package inbox_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// unpaid is a service where nobody has paid. It remembers in which order it was asked.
type unpaid struct {
	inbox.Client
	mu     sync.Mutex
	asked  []uuid.UUID
	during func(n int) // runs in the n-th confirm
}

func (u *unpaid) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, id)
	u.during(len(u.asked))
	return payments.Payment{}, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
}

// TestDueIDIsNotStarvedByReconciliation: a created id that becomes due during a reconciliation is
// confirmed soon, and not after all of the reconciliation's ids.
func TestDueIDIsNotStarvedByReconciliation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the limiters and the loops keep the bubble's time
		ledger := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
		ids := make([]uuid.UUID, 300)
		var all sync.WaitGroup
		client := &unpaid{}
		box := accepting(t, inbox.Config{SQLite: ledger, Client: client, ReconcileEvery: -1})
		for n := range ids {
			ids[n] = uuid.New()
			all.Go(func() { assert.NoError(t, box.Expect(t.Context(), ids[n], request(record{"kim", "500"}))) })
		}
		all.Wait()
		require.NoError(t, inbox.Fold(box))
		due := ids[0]
		_, err := ledger.Writer.ExecContext(t.Context(), `UPDATE depositpay_payments SET first_seen = first_seen - 60000000 WHERE payment_id = ?`, due.String())
		require.NoError(t, err) // the reconciliation asks about the oldest last
		client.during = func(n int) {
			if n == 100 { // what the limiters had saved up is gone
				_, err := ledger.Writer.ExecContext(context.Background(), `UPDATE depositpay_payments SET run_at = 1 WHERE payment_id = ?`, due.String())
				assert.NoError(t, err)
			}
		}
		running(t, box)
		<-time.After(time.Minute)
		client.mu.Lock()
		defer client.mu.Unlock()
		require.GreaterOrEqual(t, len(client.asked), len(ids))
		require.Less(t, slices.Index(client.asked, due), 200, "of %d confirms", len(client.asked))
		require.Contains(t, client.asked, due)
	})
}

// TestReconciliationGoesOn: reconciliations that are cut short, as by restarts, get to all that is
// outstanding, also while new links are made. Each of them brings the hints forward first.
func TestReconciliationGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := openLedger(t, filepath.Join(t.TempDir(), "shop.db"))
		client := &unpaid{}
		box := accepting(t, inbox.Config{SQLite: ledger, Client: client, ReconcileEvery: -1})
		expect := func(n int) (ids []uuid.UUID) {
			for range n {
				ids = append(ids, uuid.New())
				require.NoError(t, box.Expect(t.Context(), ids[len(ids)-1], request(record{"kim", "500"})))
			}
			require.NoError(t, inbox.Fold(box))
			return ids
		}
		old := expect(60)
		hint := uuid.New()
		require.NoError(t, box.Webhook().RecordHint(t.Context(), hint))
		require.NoError(t, inbox.Fold(box))
		for range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			until := len(client.asked) + 20
			client.during = func(n int) {
				if n == until {
					cancel()
				}
			}
			_, err := box.Reconcile(ctx)
			require.ErrorIs(t, err, context.Canceled)
			expect(5)
		}
		for _, id := range old {
			require.Contains(t, client.asked, id)
		}
		var waits int64
		err := ledger.Writer.QueryRowContext(t.Context(), `SELECT run_at - CAST(unixepoch('subsec') * 1000000 AS INTEGER) FROM depositpay_payments WHERE payment_id = ?`, hint.String()).Scan(&waits)
		require.NoError(t, err)
		require.LessOrEqual(t, waits, int64(0))
	})
}
