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
	"github.com/depositpay/depositpay-go/internal/racing"
	"github.com/depositpay/depositpay-go/payments"
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

// TestNoHintIsForgottenInSilence: all that may happen to an id that a webhook names, in any
// order. Whatever does, a payment that is complete is in the ledger or among the possible losses.
func TestNoHintIsForgottenInSilence(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			d := &doubts{t: t, truth: &truth{}}
			d.stand = newStand(t, pg, func(c *inbox.Config) { c.Client, c.MaxHints = d.truth, 1 })
			d.all(nil, racing.Size(4, 3), doubtful)
			d.all([]string{"webhook begins"}, racing.Size(5, 4), atOnce)
			t.Logf("%d histories, %d of them with a loss that is reported, %d with a hint given up without one", d.histories, d.reported, d.without)
			require.Positive(t, d.reported)
			require.Positive(t, d.without, "what the service has refused is no loss")
		})
	}
}

// doubts goes through histories.
type doubts struct {
	t     *testing.T
	stand *stand
	truth *truth

	histories, reported, without int
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
		losses, lossErr := inbox.PossibleLosses(d.stand.box)
		require.NoError(d.t, lossErr)
		reported := false
		for _, l := range losses {
			reported = reported || l.ID == "hint-"+d.truth.id.String()
		}
		if d.truth.complete && gone {
			require.True(d.t, reported, "complete, and known to nobody after %v", history[:i+1])
		}
		if i == len(history)-1 && gone && reported {
			d.reported++
		} else if i == len(history)-1 && gone && named {
			d.without++
		}
	}
	d.histories++
	for _, table := range []string{"payments", "polls"} {
		_, err := d.stand.ledger.Exec(`DELETE FROM depositpay_` + table)
		require.NoError(d.t, err)
	}
}

func (d *doubts) do(what string) {
	ctx, box := context.Background(), d.stand.box
	note := func(id uuid.UUID) {
		require.NoError(d.t, box.Note(ctx, id))
		require.NoError(d.t, inbox.Fold(box))
	}
	d.truth.lose = what == "webhook, lost" || what == "asked, lost" || what == "killed"
	switch what {
	case "paid":
		d.truth.paid = true
	case "webhook, lost", "webhook, answered":
		note(d.truth.id)
		p, err := d.truth.Confirm(ctx, d.truth.id)
		if err == nil {
			require.NoError(d.t, box.Accept(ctx, p))
		} else {
			require.NoError(d.t, box.Unconfirmed(ctx, d.truth.id, err))
		}
		require.NoError(d.t, inbox.Fold(box))
	case "webhook begins":
		note(d.truth.id)
	case "killed": // its confirm was carried out
		_, _ = d.truth.Confirm(ctx, d.truth.id)
	case "refused": // its confirm was carried out first of all
		require.NoError(d.t, box.Unconfirmed(ctx, d.truth.id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
		require.NoError(d.t, inbox.Fold(box))
	case "asked, lost", "asked, answered":
		_, err := d.stand.ledger.Exec(`UPDATE depositpay_payments SET run_at = 1 WHERE stage = 1`)
		require.NoError(d.t, err)
		require.NoError(d.t, inbox.ConfirmDue(box))
		require.NoError(d.t, inbox.Fold(box))
	case "given up":
		note(uuid.New())
		require.NoError(d.t, inbox.EvictHints(box))
	}
}

// TestNamedWhileGivenUp: a webhook names an id that the service has refused, at the moment at
// which another process gives it up. It is a hint afterwards.
func TestNamedWhileGivenUp(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Note(t.Context(), id))
	_, err := s.ledger.Exec(`UPDATE depositpay_payments SET reason = 'refused'`)
	require.NoError(t, err)
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.box.Note(context.Background(), id) }()
	s.awaitLock("transactionid")
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	e, err := s.box.Get(t.Context(), id.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageHint, e.Stage)
	require.Empty(t, e.Reason)
}
