package webhook_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestSinkDown: nothing is confirmed while the store cannot say what it has, because a confirm may be the
// last time that the service names a payment. The status is 503, and the error names the method that failed.
func TestSinkDown(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]webhook.Config{
		"webhook: Sink.Handled: made to fail": {Sink: &sink{handled: func(context.Context, uuid.UUID) (bool, error) {
			return true, errTest
		}}},
		"webhook: Sink.Handled panicked: made to fail": {Sink: &sink{handled: func(context.Context, uuid.UUID) (bool, error) {
			panic(errTest)
		}}},
		"webhook: Ledger.State: made to fail":      {Ledger: &ledger{stateErr: errTest}},
		"webhook: Ledger.RecordHint: made to fail": {Ledger: &ledger{hintErr: errTest}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			client := newService()
			cfg.Client = client
			h := newHandler(t, cfg)
			require.Equal(t, 503, serve(h, named(uuid.New())).Code)
			require.EqualError(t, h.seen.last(t).Err, want)
			require.ErrorIs(t, h.seen.last(t).Err, errTest)
			require.Equal(t, webhook.OutcomeSinkFailed, h.seen.last(t).Outcome)
			require.Zero(t, client.calls.Load())
		})
	}
}

// TestConfirmFailed: a ledger is told how the confirm of an unknown id failed, and of no other id. A hint
// is recorded again if the outcome is unknown.
func TestConfirmFailed(t *testing.T) {
	t.Parallel()
	refused := &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	for name, test := range map[string]struct {
		state webhook.State
		says  error
		told  []string
	}{
		"refused":           {webhook.StateUnknown, refused, []string{"hint", "webhook: Client.Confirm: " + refused.Error()}},
		"failed":            {webhook.StateUnknown, errTest, []string{"hint", "webhook: Client.Confirm: made to fail"}},
		"lost":              {webhook.StateUnknown, payments.ErrAmbiguous, []string{"hint", "hint"}},
		"unreadable":        {webhook.StateUnknown, payments.ErrUndecodable, []string{"hint", "hint"}},
		"ours, refused":     {webhook.StateExpected, refused, nil},
		"ours, lost":        {webhook.StateExpected, payments.ErrAmbiguous, []string{"hint"}},
		"handled elsewhere": {webhook.StateHandled, refused, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newService()
			service.during = func(context.Context, uuid.UUID) error { return test.says }
			l := &ledger{state: test.state}
			h := newHandler(t, webhook.Config{Client: service, Ledger: l})
			want := 429
			if test.state == webhook.StateHandled {
				want = 200
			}
			require.Equal(t, want, serve(h, named(uuid.New())).Code)
			require.Equal(t, test.told, l.told)
		})
	}
}

// TestStateInJSON: a state is its name in text and JSON.
func TestStateInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal([]webhook.State{webhook.StateUnknown, webhook.StateExpected, webhook.StateHandled})
	require.NoError(t, err)
	assert.JSONEq(t, `["unknown","expected","handled"]`, string(text))
	assert.Equal(t, "state(3)", webhook.State(3).String())
}
