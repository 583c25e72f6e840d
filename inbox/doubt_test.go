package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// truth is the service, and what it knows of one payment. Others do not exist.
type truth struct {
	inbox.Client
	id             uuid.UUID
	paid, complete bool
	lose           bool // the next answers
}

func (s *truth) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	known := id == s.id && s.paid
	s.complete = s.complete || known
	switch {
	case s.lose:
		return payments.Payment{}, payments.ErrAmbiguous
	case !known:
		return payments.Payment{}, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	}
	return paymentOf(id, record{"kim", "500"}), nil
}

// TestNoDoubtIsGivenUp: all that may happen to an id that a webhook names, in any order. Whatever
// does, a payment that is complete is in the ledger.
func TestNoDoubtIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			d := &doubts{t: t, truth: &truth{}}
			d.stand = newStand(t, pg, func(c *inbox.Config) { c.Client, c.MaxHints = d.truth, 1 })
			d.all(nil, racing.Size(4, 3), doubtful)
			d.all([]string{"webhook begins"}, racing.Size(5, 4), atOnce)
			t.Logf("%d histories, %d of them with a hint that is given up; %d webhooks turned away", d.histories, d.gone, d.turnedAway)
			require.Positive(t, d.gone, "what the service has refused")
			require.Positive(t, d.turnedAway, "what is in doubt takes up the room")
		})
	}
}

// doubts goes through histories.
type doubts struct {
	t     *testing.T
	stand *stand
	truth *truth

	histories, gone, turnedAway int
}

var (
	doubtful = []string{"paid", "webhook, lost", "webhook, answered", "asked, lost", "asked, answered", "given up"}
	// While a webhook's process waits for the answer to a confirm.
	atOnce = []string{"paid", "asked, answered", "webhook, answered", "given up", "killed", "refused"}
)

// all goes through all histories of a length that begin like this.
func (d *doubts) all(history []string, length int, next []string) {
	if len(history) == length {
		d.run(history)
		return
	}
	ended := slices.Contains(history, "killed") || slices.Contains(history, "refused")
	for _, what := range next {
		if len(history) > 0 && history[len(history)-1] == what && what != "given up" {
			continue // twice in a row is once
		}
		if ended && (what == "killed" || what == "refused") {
			continue // there is one that begins and does not end at once
		}
		d.all(append(history[:len(history):len(history)], what), length, next)
	}
}

func (d *doubts) run(history []string) {
	*d.truth = truth{id: uuid.New()}
	named := false
	for i, what := range history {
		d.do(what)
		named = named || strings.HasPrefix(what, "webhook")
		_, err := d.stand.box.Get(d.t.Context(), d.truth.id.String())
		gone := errors.Is(err, inbox.ErrNotFound)
		require.False(d.t, d.truth.complete && gone, "complete, and known to nobody after %v", history[:i+1])
		if i == len(history)-1 && gone && named {
			d.gone++
		}
	}
	d.histories++
	_, err := d.stand.ledger.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(d.t, err)
}

func (d *doubts) do(what string) {
	ctx, box := context.Background(), d.stand.box
	note := func(id uuid.UUID) bool {
		err := box.Webhook().RecordHint(ctx, id)
		if err != nil { // the webhook is not confirmed, and comes again
			require.ErrorIs(d.t, err, webhook.ErrFull)
			d.turnedAway++
		}
		require.NoError(d.t, inbox.Fold(box))
		return err == nil
	}
	d.truth.lose = what == "webhook, lost" || what == "asked, lost" || what == "killed"
	switch what {
	case "paid":
		d.truth.paid = true
	case "webhook, lost", "webhook, answered":
		if !note(d.truth.id) {
			return
		}
		p, err := d.truth.Confirm(ctx, d.truth.id)
		if err == nil {
			require.NoError(d.t, box.Webhook().Accept(ctx, p))
		} else {
			require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, d.truth.id, err))
		}
		require.NoError(d.t, inbox.Fold(box))
	case "webhook begins":
		note(d.truth.id)
	case "killed": // its confirm was carried out
		_, _ = d.truth.Confirm(ctx, d.truth.id)
	case "refused": // its confirm was carried out first of all
		require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, d.truth.id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
		require.NoError(d.t, inbox.Fold(box))
	case "asked, lost", "asked, answered":
		_, err := d.stand.ledger.Exec(inbox.SQL(`UPDATE {p}payments SET run_at = 1 WHERE stage = {hint}`))
		require.NoError(d.t, err)
		require.NoError(d.t, inbox.ConfirmDue(box))
		require.NoError(d.t, inbox.Fold(box))
	case "given up": // for a stranger's id, if there is room for one
		if id := uuid.New(); note(id) {
			require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
		}
		require.NoError(d.t, inbox.Fold(box))
		require.NoError(d.t, inbox.EvictHints(box))
	}
}

// TestDoubtEnds: a doubt ends with a no to a confirm that began ten minutes after all others,
// also after those whose answer was lost, and with no other no.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			service := &truth{id: uuid.New()}
			s := newStand(t, pg, func(c *inbox.Config) { c.Client = service })
			id := uuid.New()
			ask := func(minutes int, lost bool) inbox.ConfirmState {
				t.Helper()
				_, err := s.ledger.Exec(`UPDATE depositpay_payments SET run_at = 1, asked_at = asked_at - $1`, int64(minutes)*60_000_000)
				require.NoError(t, err)
				service.lose = lost
				require.NoError(t, inbox.ConfirmDue(s.box))
				e, err := s.box.Get(t.Context(), id.String())
				require.NoError(t, err)
				return e.Confirm
			}
			note := func() inbox.ConfirmState {
				require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
				require.NoError(t, inbox.Fold(s.box))
				e, err := s.box.Get(t.Context(), id.String())
				require.NoError(t, err)
				return e.Confirm
			}
			require.Equal(t, inbox.ConfirmNamed, note())
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false), "that of the webhook may be under way")
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false))
			require.Equal(t, inbox.ConfirmRejected, ask(11, false))
			require.Equal(t, inbox.ConfirmUnknown, ask(11, true))
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false), "the lost one may be carried out")
			require.Equal(t, inbox.ConfirmUnknown, note())
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false))
			require.Equal(t, inbox.ConfirmRejected, ask(11, false))
			require.Equal(t, inbox.ConfirmUnknown, ask(0, true))
			_, err := s.ledger.Exec(`UPDATE depositpay_payments SET asked_at = asked_at - 660000000`)
			require.NoError(t, err)
			require.Equal(t, inbox.ConfirmNamed, note(), "the webhook's own is the only one")
		})
	}
}

// TestNamedWhileGivenUp: a webhook names an id that the service has refused, at the moment at
// which another process gives it up. It is a hint afterwards.
func TestNamedWhileGivenUp(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	_, err := s.ledger.Exec(inbox.SQL(`UPDATE {p}payments SET confirm = {rejected}`))
	require.NoError(t, err)
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.box.Webhook().RecordHint(context.Background(), id) }()
	s.awaitLock("transactionid")
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	e, err := s.box.Get(t.Context(), id.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageHint, e.Stage)
	require.Equal(t, inbox.ConfirmNamed, e.Confirm)
}
