package webhook_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

// failingLedger fails in the methods that have an error here.
type failingLedger struct {
	sink
	standing, note error
}

func (l *failingLedger) Standing(context.Context, uuid.UUID) (webhook.Standing, error) {
	return webhook.StandingUnknown, l.standing
}

func (l *failingLedger) Note(context.Context, uuid.UUID) error { return l.note }

// TestFailingSinkIsNamed: the error names the method that failed, nothing is confirmed, and the answer is 503.
func TestFailingSinkIsNamed(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]webhook.Sink{
		"webhook: Sink.Handled: made to fail":    &sink{handled: func(context.Context, uuid.UUID) (bool, error) { return false, errTest }},
		"webhook: Ledger.Standing: made to fail": &failingLedger{standing: errTest},
		"webhook: Ledger.Note: made to fail":     &failingLedger{note: errTest},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			var seen events
			client := newService()
			h := newHandler(t, webhook.Config{Client: client, Sink: s, OnDelivery: seen.add})
			require.Equal(t, 503, serve(h, named(uuid.New())).Code)
			require.EqualError(t, seen.last(t).Err, want)
			require.Equal(t, webhook.OutcomeSinkFailed, seen.last(t).Outcome)
			require.Zero(t, client.calls.Load())
		})
	}
}
