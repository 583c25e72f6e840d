package inbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestWordsInJSON: words and back, not numbers.
func TestWordsInJSON(t *testing.T) {
	t.Parallel()
	type all struct {
		Stage    inbox.Stage
		Stages   map[inbox.Stage]int64
		Confirm  inbox.ConfirmState
		Channels []inbox.Channel
		Reason   inbox.Reason
		Outcome  inbox.Outcome
		Dialect  inbox.Dialect
	}
	value := all{
		inbox.StageReview, map[inbox.Stage]int64{inbox.StageDead: 2}, inbox.ConfirmRejected,
		[]inbox.Channel{0, inbox.ChannelPoll, inbox.ChannelWebhook | inbox.ChannelReconcile},
		inbox.ReasonUnderpaid, inbox.OutcomeSnoozed, inbox.DialectSQLite,
	}
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.JSONEq(t, `{"Stage":"review","Stages":{"dead":2},"Confirm":"rejected","Channels":["","poll","webhook,reconcile"],
		"Reason":"underpaid","Outcome":"snoozed","Dialect":"sqlite"}`, string(text))
	var back all
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, value, back)
}

// TestWordsThatAreNone: an error that names the words there are; a value out of range shows its number.
func TestWordsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, into := range map[string]any{
		`inbox: "paid" is no stage; use one of expected, hint, ready, done, review, dead`:     new(inbox.Stage),
		`inbox: "paid" is no confirm state; use one of none, named, asked, rejected, unknown`: new(inbox.ConfirmState),
		`inbox: "paid" is no channel; use one of webhook, poll, reconcile`:                    new(inbox.Channel),
	} {
		require.EqualError(t, json.Unmarshal([]byte(`"paid"`), into), text)
	}
	require.Equal(t, "stage(9) confirm(-1) poll,channel(10)", inbox.Stage(9).String()+" "+inbox.ConfirmState(-1).String()+" "+inbox.Channel(10).String())
}
