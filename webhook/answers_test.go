package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// failing is a ledger whose methods fail, or hang for as long as they may.
type failing struct {
	state               webhook.State
	ask, hint, accept   error
	hangState, hangNext bool
	laterHint           error         // from the second RecordHint on
	laterTakes          time.Duration // whatever its context says
	hints               int
}

func (f *failing) hang(ctx context.Context, hangs bool, err error) error {
	if hangs {
		<-ctx.Done()
		<-time.After(time.Second) // whatever its context says
	}
	return err
}

func (f *failing) State(ctx context.Context, _ uuid.UUID) (webhook.State, error) {
	return f.state, f.hang(ctx, f.hangState, f.ask)
}

func (f *failing) RecordHint(ctx context.Context, _ uuid.UUID) error {
	if f.hints++; f.hints > 1 {
		<-time.After(f.laterTakes)
		return f.laterHint
	}
	return f.hang(ctx, f.hangNext && f.hint != nil, f.hint)
}

func (f *failing) ConfirmFailed(context.Context, uuid.UUID, error) error { return nil }

func (f *failing) Accept(ctx context.Context, _ payments.Payment) error {
	return f.hang(ctx, f.hangNext, f.accept)
}

// TestAnswers: only a failure of the merchant's own store is a 5xx, as the table of the package
// documentation says.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const own, stranger = webhook.StateExpected, webhook.StateUnknown
	no := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	hangs := func(ctx context.Context) error { <-ctx.Done(); <-time.After(time.Second); return ctx.Err() }
	notPaid := &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	tests := map[string]struct {
		ledger  failing
		service func(context.Context) error
		want    int
		outcome webhook.Outcome
	}{
		"paid":                        {failing{state: stranger}, no(nil), 200, webhook.OutcomeAccepted},
		"handled":                     {failing{state: webhook.StateHandled}, no(errTest), 200, webhook.OutcomeRepeated},
		"refused":                     {failing{state: stranger}, no(notPaid), 429, webhook.OutcomeUnconfirmed},
		"refused, own":                {failing{state: own}, no(notPaid), 429, webhook.OutcomeUnconfirmed},
		"service away":                {failing{state: stranger}, no(errTest), 429, webhook.OutcomeUnconfirmed},
		"service away, own":           {failing{state: own}, no(errTest), 429, webhook.OutcomeUnconfirmed},
		"token refused":               {failing{state: own}, no(payments.ErrTokenRefused), 429, webhook.OutcomeUnconfirmed},
		"not complete":                {failing{state: own}, no(payments.ErrNotComplete), 429, webhook.OutcomeUnconfirmed},
		"answer lost":                 {failing{state: stranger}, no(payments.ErrAmbiguous), 429, webhook.OutcomeAmbiguous},
		"answer lost, own":            {failing{state: own}, no(payments.ErrAmbiguous), 429, webhook.OutcomeAmbiguous},
		"unreadable":                  {failing{state: own}, no(payments.ErrUndecodable), 429, webhook.OutcomeAmbiguous},
		"service hangs":               {failing{state: stranger}, hangs, 429, webhook.OutcomeTimeout},
		"service hangs, own":          {failing{state: own}, hangs, 429, webhook.OutcomeTimeout},
		"ledger away":                 {failing{ask: errTest}, no(nil), 503, webhook.OutcomeSinkFailed},
		"ledger hangs":                {failing{hangState: true}, no(nil), 503, webhook.OutcomeTimeout},
		"not recorded":                {failing{state: stranger, hint: errTest}, no(nil), 503, webhook.OutcomeSinkFailed},
		"hangs while it writes":       {failing{state: stranger, hint: errTest, hangNext: true}, no(nil), 503, webhook.OutcomeTimeout},
		"not accepted":                {failing{state: own, accept: errTest}, no(nil), 503, webhook.OutcomeSinkFailed},
		"hangs while it accepts":      {failing{state: own, hangNext: true}, no(nil), 503, webhook.OutcomeTimeout},
		"answer lost, not recorded":   {failing{state: stranger, laterHint: errTest}, no(payments.ErrAmbiguous), 503, webhook.OutcomeAmbiguous},
		"lost, hangs while it writes": {failing{state: stranger, laterTakes: time.Minute}, no(payments.ErrAmbiguous), 503, webhook.OutcomeTimeout},
		"own, lost and not recorded":  {failing{state: own, hint: errTest}, no(payments.ErrAmbiguous), 503, webhook.OutcomeAmbiguous},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHandler(t, webhook.Config{Ledger: &test.ledger, Client: confirmerFunc(
					func(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
						return payments.Payment{ID: id, Status: payments.StatusComplete}, test.service(ctx)
					})})
				w := serve(h, named(uuid.New()))
				assert.Equal(t, test.want, w.Code)
				assert.Equal(t, test.outcome, h.seen.last(t).Outcome)
				if test.want != http.StatusOK {
					assert.Equal(t, "5", w.Header().Get("Retry-After"))
				}
				if err := h.Wait(t.Context()); errors.Is(err, context.Canceled) {
					assert.NoError(t, err)
				}
			})
		})
	}
}

// TestProbing: what a stranger can learn of an id, while ConfirmRate lasts and after. Beyond
// the status nothing distinguishes two ids.
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
		h := newHandler(t, webhook.Config{Ledger: l, ConfirmBurst: 2, Client: confirmerFunc(
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
			rateLeft = h.seen.last(t).Outcome == webhook.OutcomeLimited
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
