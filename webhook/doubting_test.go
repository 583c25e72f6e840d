package webhook_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// ledger is a Sink that writes down what it is told.
type ledger struct {
	sink
	standing webhook.Standing
	told     []string
}

func (l *ledger) Standing(context.Context, uuid.UUID) (webhook.Standing, error) {
	return l.standing, nil
}

func (l *ledger) Note(context.Context, uuid.UUID) error {
	l.told = append(l.told, "note")
	return nil
}

func (l *ledger) Unconfirmed(_ context.Context, _ uuid.UUID, err error) error {
	l.told = append(l.told, err.Error())
	if errors.Is(err, errTest) {
		panic("contained")
	}
	return errTest
}

// TestDoubting: a ledger is told how the confirm of a stranger's id failed, and of no other;
// one whose outcome is not known is noted again.
func TestDoubting(t *testing.T) {
	t.Parallel()
	refused := &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	for name, test := range map[string]struct {
		standing webhook.Standing
		says     error
		told     []string
	}{
		"refused":           {webhook.StandingUnknown, refused, []string{"note", "webhook: Client.Confirm: " + refused.Error()}},
		"failed":            {webhook.StandingUnknown, errTest, []string{"note", "webhook: Client.Confirm: made to fail"}},
		"lost":              {webhook.StandingUnknown, payments.ErrAmbiguous, []string{"note", "note"}},
		"unreadable":        {webhook.StandingUnknown, payments.ErrUndecodable, []string{"note", "note"}},
		"ours, refused":     {webhook.StandingExpected, refused, nil},
		"ours, lost":        {webhook.StandingExpected, payments.ErrAmbiguous, []string{"note"}},
		"handled elsewhere": {webhook.StandingHandled, refused, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newService()
			service.during = func(context.Context, uuid.UUID) error { return test.says }
			l := &ledger{standing: test.standing}
			h := newHandler(t, webhook.Config{Client: service, Sink: l})
			want := 429
			if test.standing == webhook.StandingHandled {
				want = 200
			}
			require.Equal(t, want, serve(h, named(uuid.New())).Code)
			require.Equal(t, test.told, l.told)
		})
	}
}
