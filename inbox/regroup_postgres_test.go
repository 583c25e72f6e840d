package inbox_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestRetriedGroupRepeatsNothing: a group whose record has to wait for a lock is retried. The no that it
// has stored before does not answer for a webhook that names the id meanwhile, and a poll's body
// is stored once.
func TestRetriedGroupRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id, p := uuid.New(), nthPayment(1)
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(inbox.SQL(`INSERT INTO {p}payments (payment_id, stage, confirm, run_at, first_seen) VALUES ($1, {hint}, {named}, 0, 0)`), p.ID.String())
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- inbox.AcceptGroup(s.box, id.String(), "poll-1", p) }()
	s.awaitLock("transactionid")
	require.Equal(t, inbox.ConfirmRejected, s.confirmOf(id))
	var named time.Time
	require.NoError(t, s.ledger.QueryRow(inbox.SQL(`UPDATE {p}payments SET confirm = {named} WHERE payment_id = $1 RETURNING clock_timestamp()`), id.String()).Scan(&named),
		"as a webhook at another replica")
	require.Eventually(t, func() bool {
		var again bool
		require.NoError(t, s.ledger.QueryRow(`SELECT count(*) > 0 FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock' AND xact_start > $1`, named).Scan(&again))
		return again
	}, patience, time.Millisecond, "the group is retried")
	require.NoError(t, other.Rollback())
	require.NoError(t, <-ended)
	require.Equal(t, inbox.ConfirmNamed, s.confirmOf(id))
	var bodies int
	require.NoError(t, s.ledger.QueryRow(`SELECT count(*) FROM depositpay_receipts WHERE payment_id = 'poll-1'`).Scan(&bodies))
	require.Equal(t, 1, bodies)
}

func (s *stand) confirmOf(id uuid.UUID) inbox.ConfirmState {
	s.t.Helper()
	e, err := s.box.Get(s.t.Context(), id.String())
	require.NoError(s.t, err)
	return e.Confirm
}
