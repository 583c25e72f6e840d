package inbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// refused are ids that webhooks have named, and to whose confirms the service has said no.
func (s *stand) refused(n int) (ids []uuid.UUID) {
	s.t.Helper()
	for range n {
		ids = append(ids, uuid.New())
		require.NoError(s.t, s.box.Webhook().RecordHint(s.t.Context(), ids[len(ids)-1]))
		require.NoError(s.t, s.box.Webhook().ConfirmFailed(s.t.Context(), ids[len(ids)-1], &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
	}
	require.NoError(s.t, inbox.Fold(s.box))
	return ids
}

// TestTwoReplicasAtTheCap: two processes that are flooded while the service does not answer take
// as many new ids as there is room for, and no more than they have under way beyond it; none that was taken is given
// up. Once the service has said no there is room again.
func TestTwoReplicasAtTheCap(t *testing.T) {
	t.Parallel()
	const maxHints, callers, each = 20, 4, 20
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = maxHints })
	boxes := []*inbox.Inbox{s.box, s.open()}
	var mu sync.Mutex
	var taken []uuid.UUID
	var flood sync.WaitGroup
	for n := range callers * len(boxes) {
		flood.Go(func() {
			for range each {
				id := uuid.New()
				err := boxes[n%len(boxes)].Webhook().RecordHint(context.Background(), id)
				if err != nil {
					assert.ErrorIs(t, err, webhook.ErrFull)
					continue
				}
				mu.Lock()
				taken = append(taken, id)
				mu.Unlock()
			}
		})
	}
	flood.Wait()
	require.GreaterOrEqual(t, len(taken), maxHints)
	require.LessOrEqual(t, len(taken), maxHints+callers)
	for _, box := range boxes {
		require.NoError(t, inbox.EvictHints(box))
		require.NoError(t, box.Webhook().RecordHint(t.Context(), taken[0]), "it is not new")
		require.ErrorIs(t, box.Webhook().RecordHint(t.Context(), uuid.New()), webhook.ErrFull)
	}
	for _, id := range taken {
		e, err := boxes[1].Get(t.Context(), id.String())
		require.NoError(t, err)
		require.Equal(t, inbox.StageHint, e.Stage)
	}
	for _, id := range taken[1:] {
		require.NoError(t, boxes[1].Webhook().ConfirmFailed(t.Context(), id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
	}
	require.NoError(t, boxes[0].Webhook().RecordHint(t.Context(), uuid.New()))
	require.NoError(t, inbox.EvictHints(boxes[0]))
	status, err := s.box.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(maxHints), status.Count[inbox.StageHint])
	_, err = s.box.Get(t.Context(), taken[0].String())
	require.NoError(t, err, "it was named twice, so it is in doubt")
}

// TestHintsUnderWayTakePlaces: of ten new ids that are noted at once three find a place, also
// while none is in the ledger yet.
func TestHintsUnderWayTakePlaces(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = 3 })
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`LOCK TABLE depositpay_payments IN SHARE MODE`) // all may count, and nobody may write
	require.NoError(t, err)
	ended := make(chan error, 10)
	for range cap(ended) {
		go func() { ended <- s.box.Webhook().RecordHint(context.Background(), uuid.New()) }()
	}
	for range cap(ended) - 3 {
		select {
		case err := <-ended:
			require.ErrorIs(t, err, webhook.ErrFull)
		case <-time.After(patience):
			require.Fail(t, "more than three have a place")
		}
	}
	require.NoError(t, other.Commit())
	for range 3 {
		require.NoError(t, <-ended)
	}
}
