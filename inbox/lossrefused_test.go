package inbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// TestLossOfAnyTextIsStored: PollLost stores a possible loss whatever its error says, and the
// next poll is allowed.
func TestLossOfAnyTextIsStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, reason string }{
		{"long Korean", "a" + strings.Repeat("돈", 400), "a" + strings.Repeat("돈", (1000-len(payments.ErrAmbiguous.Error()+": a"))/3) + "…"},
		{"invalid byte", "a\xffb", "a\xffb"},
		{"NUL", "a\x00b", "a\x00b"},
		{"refused", "dragon", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t).DB
			box := accepting(t, inbox.Config{DB: db})
			books{t, db}.do(`ALTER TABLE depositpay_polls ADD CHECK (outcome NOT LIKE '%dragon%')`)
			require.NoError(t, box.Poller().Begin().PollLost(t.Context(), fmt.Errorf("%w: %s", payments.ErrAmbiguous, c.text)))
			_, err := box.Poller().Begin().BeforePoll(t.Context())
			require.NoError(t, err)
			losses, err := inbox.PossibleLosses(box)
			require.NoError(t, err)
			require.Len(t, losses, 1)
			want := "ambiguous: " + payments.ErrAmbiguous.Error() + ": " + c.reason
			if c.reason == "" {
				want = "ambiguous: the database refuses the error's text (SQLSTATE 23514)"
			}
			require.Equal(t, want, losses[0].Reason)
		})
	}
}

// TestBeatWithUnstoredLoss: an open poll line is beaten although a possible loss cannot be
// stored, so no other process takes the poller for dead.
func TestBeatWithUnstoredLoss(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t).DB
	box := accepting(t, inbox.Config{DB: db})
	_, err := box.Poller().Begin().BeforePoll(t.Context())
	require.NoError(t, err)
	books := books{t, db}
	books.do(`UPDATE depositpay_polls SET beat_at = 1`)
	books.do(`CREATE FUNCTION full_disk() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$ LANGUAGE plpgsql`)
	books.do(`CREATE TRIGGER full_disk BEFORE INSERT ON depositpay_polls FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	inbox.AddUnwrittenLoss(box, errors.New("cut"))
	inbox.AgeBeats(box)
	require.ErrorContains(t, inbox.BeatLines(box), "no room")
	var beats int
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM depositpay_polls WHERE beat_at > 1`).Scan(&beats))
	require.Equal(t, 1, beats)
}

// TestFirstPollOfFailingStore: BeforePoll refuses the first poll of a run too if the store has
// failed: the ledger's file may take the line while nothing takes a payment.
func TestFirstPollOfFailingStore(t *testing.T) {
	t.Parallel()
	ledger, disk := onDisk(t)
	box := accepting(t, inbox.Config{SQLite: ledger})
	disk.full(true)
	require.ErrorContains(t, box.Webhook().Accept(t.Context(), nthPayment(1)), "no room")
	journal := box.Poller().Begin()
	_, err := journal.BeforePoll(t.Context())
	require.ErrorContains(t, err, "the store is down")
	disk.full(false)
	_, err = journal.BeforePoll(t.Context())
	require.NoError(t, err)
}
