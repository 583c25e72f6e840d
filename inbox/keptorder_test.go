package inbox_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestKeptInOrder: of two different records of a payment that are kept in memory, the first to
// arrive is the payment's record.
func TestKeptInOrder(t *testing.T) {
	t.Parallel()
	const n = 20
	ledger, disk := onDisk(t)
	box := accepting(t, inbox.Config{SQLite: ledger})
	disk.full(true)
	for range n {
		id := uuid.New()
		for _, identifier := range []string{"first", "second"} {
			require.ErrorContains(t, box.Webhook().Accept(t.Context(), paymentOf(id, record{identifier, "500"})), "no room")
		}
	}
	disk.full(false)
	_, err := box.Webhook().State(t.Context(), uuid.New())
	require.NoError(t, err)
	require.NoError(t, inbox.Fold(box))
	var first int
	require.NoError(t, ledger.Writer.QueryRow(`SELECT count(*) FROM depositpay_payments WHERE identifier = 'first'`).Scan(&first))
	require.Equal(t, n, first)
}
