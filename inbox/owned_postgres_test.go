package inbox_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// TestRefusedHintBecomesOwn: a webhook of a registered payment whose hint the service had
// rejected is noted.
func TestRefusedHintBecomesOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	require.NoError(t, s.box.Webhook().ConfirmFailed(t.Context(), id, &payments.Error{Op: "Confirm", Code: "NOT_PAID", Attempts: 1}))
	require.Equal(t, inbox.ConfirmRejected, s.confirmOf(id))
	require.NoError(t, s.box.Expect(t.Context(), id, orderOf("order-1")))
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	require.Equal(t, inbox.ConfirmNone, s.confirmOf(id))
}

// TestRegisteredWhileGivenUp: a payment is in the ledger after Expect, although another process
// evicts its hint at that moment.
func TestRegisteredWhileGivenUp(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.box.Expect(context.Background(), id, orderOf("order-1")) }()
	s.awaitLock("transactionid")
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	e, err := s.box.Get(t.Context(), id.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageExpected, e.Stage)
}
