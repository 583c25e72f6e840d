package webhook_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestProbing: what a stranger can learn of an id, while ConfirmRate lasts and after. Beyond
// the status nothing tells two ids apart.
func TestProbing(t *testing.T) {
	t.Parallel()
	refused := &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	alike := map[int]string{}
	for name, test := range map[string]struct {
		state       webhook.State
		says        error // the service, or nil for COMPLETE
		again       bool  // the id was named just before
		with, spent int   // the answer with rate left, and without
	}{
		"unknown":                  {webhook.StateUnknown, refused, false, 429, 429},
		"unknown, just refused":    {webhook.StateUnknown, refused, true, 429, 429},
		"unknown, in doubt":        {webhook.StateUnknown, payments.ErrAmbiguous, true, 429, 429},
		"unknown, no answer":       {webhook.StateUnknown, errTest, true, 429, 429},
		"the own, no answer":       {webhook.StateExpected, errTest, true, 429, 429},
		"unknown, paid":            {webhook.StateUnknown, nil, false, 200, 429},
		"the own, unpaid":          {webhook.StateExpected, refused, false, 429, 429},
		"the own, just refused":    {webhook.StateExpected, refused, true, 429, 429},
		"the own, in doubt":        {webhook.StateExpected, payments.ErrAmbiguous, true, 429, 429},
		"the own, paid":            {webhook.StateExpected, nil, false, 200, 200},
		"handled":                  {webhook.StateHandled, refused, false, 200, 200},
		"handled, and named again": {webhook.StateHandled, refused, true, 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for rate, want := range map[bool]int{true: test.with, false: test.spent} {
				got, text := probe(t, test.state, test.says, test.again, rate)
				assert.Equal(t, want, got, "rate left: %t", rate)
				if alike[got] == "" {
					alike[got] = text
				}
				assert.Equal(t, alike[got], text, "two answers of one status differ")
			}
		})
	}
	require.Len(t, alike, 2)
}

// probe names an id, and returns the status and all that is sent with it.
func probe(t *testing.T, state webhook.State, says error, again, rateLeft bool) (status int, text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // no time passes
		id, other := uuid.New(), uuid.New()
		l := &oneUnknown{ledger{state: state}, other}
		seen := &events{}
		h := newHandler(t, webhook.Config{Ledger: l, ConfirmBurst: 2, OnDelivery: seen.add, Client: confirmerFunc(
			func(_ context.Context, asked uuid.UUID) (payments.Payment, error) {
				if asked == other {
					return payments.Payment{}, errTest
				}
				return payments.Payment{ID: asked, Status: payments.StatusComplete}, says
			})})
		if again {
			serve(h, named(id))
		}
		for !rateLeft {
			serve(h, named(other))
			rateLeft = seen.last(t).Outcome == webhook.OutcomeLimited
		}
		w := serve(h, named(id))
		var dump bytes.Buffer
		require.NoError(t, w.Result().Header.Write(&dump))
		status, text = w.Code, dump.String()+w.Body.String()
	})
	return status, text
}

// oneUnknown is a ledger that does not know one of the ids.
type oneUnknown struct {
	ledger
	id uuid.UUID
}

func (l *oneUnknown) State(ctx context.Context, id uuid.UUID) (webhook.State, error) {
	if id == l.id {
		return webhook.StateUnknown, nil
	}
	return l.ledger.State(ctx, id)
}
