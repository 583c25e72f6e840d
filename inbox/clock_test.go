package inbox_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// clockBack sets the database's clock back: all that the ledger has dated is so much later.
func (s *stand) clockBack(by time.Duration) {
	s.t.Helper()
	require.NoError(s.t, inbox.Fold(s.box))
	s.do(fmt.Sprintf(`UPDATE depositpay_payments SET first_seen = first_seen + %[1]d, ready_at = ready_at + %[1]d,
		asked_at = CASE WHEN asked_at > 0 THEN asked_at + %[1]d ELSE 0 END,
		run_at = CASE WHEN run_at < 4000000000000000000 THEN run_at + %[1]d ELSE run_at END, leased = CASE WHEN leased > 0 THEN leased + %[1]d ELSE 0 END`, by.Microseconds()))
}

func (s *stand) claimed() (ids []string) {
	s.t.Helper()
	claims := s.claim()
	for _, c := range claims {
		ids = append(ids, c.Key())
	}
	return ids
}

func (s *stand) status() inbox.Status {
	s.t.Helper()
	status, err := s.box.Status(s.t.Context())
	require.NoError(s.t, err)
	return status
}

func (s *stand) runAt(key string) time.Time {
	s.t.Helper()
	e := s.entry(key)
	return e.RunAt
}

// TestClockSetBackAndPaymentsWait: the database's clock is set back by an hour. What was accepted before is
// handed over at once, and the alarm figure says an hour until then.
func TestClockSetBackAndPaymentsWait(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		var log bytes.Buffer
		s := newStand(t, pg, func(c *inbox.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
		s.clockBack(time.Hour)
		require.Empty(t, s.claimed())
		require.InDelta(t, time.Hour, s.status().OldestReady, float64(time.Minute))

		require.NoError(t, inbox.LookAtClock(s.box))
		require.Less(t, s.status().OldestReady, time.Minute)
		require.Equal(t, []string{nthPayment(1).ID.String()}, s.claimed())
		require.Contains(t, log.String(), "the database's clock was set back")
		require.Contains(t, log.String(), "payments=1")
	})
}

// TestRunSeesTheClockSetBack: Run hands over what was accepted before the clock was set back.
func TestRunSeesTheClockSetBack(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
		s.clockBack(time.Hour)
		running(t, s.box)
		awaitStage(t, s.box, nthPayment(1).ID.String(), inbox.StageDone)
	})
}

// TestClockSetBackEndsLeases: the lease of a process that is dead is over although the clock was set back; one
// that may be alive is not ended by a small correction.
func TestClockSetBackEndsLeases(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil) // a lease is 45 s
		id := nthPayment(1).ID.String()
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
		require.Equal(t, []string{id}, s.claimed())
		s.clockBack(30 * time.Second)
		require.NoError(t, inbox.LookAtClock(s.box))
		require.Empty(t, s.claimed(), "its handler may be running")
		s.clockBack(time.Hour)
		require.NoError(t, inbox.LookAtClock(s.box))
		require.Equal(t, []string{id}, s.claimed())
		require.Empty(t, s.claimed(), "it has a lease again")
	})
}

// TestClockSetBackKeepsWaits: a payment that waits for another try, or was snoozed, waits as long as it was to,
// and not an hour more.
func TestClockSetBackKeepsWaits(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		const snooze = 24 * time.Hour
		s := newStand(t, pg, func(c *inbox.Config) {
			c.BackoffMin, c.BackoffMax = 10*time.Minute, 10*time.Minute
			c.Handler = func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
				if p.ID == nthPayment(1).ID {
					return errors.New("out of stock")
				}
				return inbox.Snooze(snooze)
			}
		})
		failed, snoozed := nthPayment(1), nthPayment(2)
		for _, p := range []payments.Payment{failed, snoozed} {
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
		}
		claims := s.claim()
		for i := range claims {
			inbox.Handle(s.box, &claims[i])
		}
		before := []time.Time{s.runAt(failed.ID.String()), s.runAt(snoozed.ID.String())}
		require.NoError(t, inbox.LookAtClock(s.box))
		require.Equal(t, before, []time.Time{s.runAt(failed.ID.String()), s.runAt(snoozed.ID.String())}, "the clock is right")

		s.clockBack(time.Hour)
		require.NoError(t, inbox.LookAtClock(s.box))
		now := time.Now()
		require.WithinRange(t, s.runAt(failed.ID.String()), before[0].Add(-time.Minute), now.Add(10*time.Minute))
		require.WithinRange(t, s.runAt(snoozed.ID.String()), before[1].Add(-time.Minute), now.Add(snooze))
	})
}

// TestClockSetBackKeepsOrder: the payments of an identifier are handed over in the order of arrival, before those
// that come afterwards.
func TestClockSetBackKeepsOrder(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, func(c *inbox.Config) { c.SerializeByIdentifier = true })
		var want []string
		accept := func(n int) {
			p := nthPayment(n)
			p.Identifier = "player-1"
			want = append(want, p.ID.String())
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			require.NoError(t, inbox.Fold(s.box))
		}
		for n := range 5 {
			accept(n)
		}
		s.clockBack(time.Hour)
		require.NoError(t, inbox.LookAtClock(s.box))
		accept(5)
		var got []string
		for range want {
			claims := s.claim()
			require.Len(t, claims, 1)
			inbox.Handle(s.box, &claims[0])
			got = append(got, claims[0].Key())
		}
		require.Equal(t, want, got)
	})
}

// TestClockSetBackBetweenPayments: the payments of an identifier are handed over in the order of arrival although
// only the later ones are dated in the future, and one of somebody else's is further ahead.
func TestClockSetBackBetweenPayments(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, func(c *inbox.Config) { c.SerializeByIdentifier = true })
		want, set := s.halfAhead()
		require.NoError(t, inbox.LookAtClock(s.box))
		require.Less(t, s.status().OldestReady, time.Hour, "nothing is dated earlier than need be")
		want = append(want, set(4))
		require.Equal(t, want, s.handedOver("player-1"))
	})
}

// TestClockSetBackUnderAHandler: a payment that the look cannot move, since its handler has its row, is handed over
// before the later ones of its identifier if that handler fails.
func TestClockSetBackUnderAHandler(t *testing.T) {
	s := newStand(t, true, func(c *inbox.Config) { c.SerializeByIdentifier = true })
	want, _ := s.halfAhead()
	tx, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = tx.Exec(`SELECT 1 FROM depositpay_payments WHERE payment_id = $1 FOR UPDATE`, want[1])
	require.NoError(t, err)
	require.NoError(t, inbox.LookAtClock(s.box))
	require.NoError(t, tx.Rollback())
	require.NoError(t, inbox.LookAtClock(s.box))
	require.Equal(t, want, s.handedOver("player-1"))
}

// halfAhead sets the clock back between the first and the second of three payments of player-1, by 45 minutes
// before one of player-2. accept takes another one of player-1.
func (s *stand) halfAhead() (want []string, accept func(n int) string) {
	s.t.Helper()
	of := func(n int, identifier string) string {
		p := nthPayment(n)
		p.Identifier = identifier
		s.accept(p)
		return p.ID.String()
	}
	minutes := map[string]int{of(0, "player-1"): -15, of(1, "player-1"): 10, of(2, "player-1"): 15, of(3, "player-2"): 45}
	for n := range 3 {
		want = append(want, nthPayment(n).ID.String())
	}
	for id, ahead := range minutes {
		s.do(`UPDATE depositpay_payments SET run_at = run_at + $1, ready_at = ready_at + $1, first_seen = first_seen + $1 WHERE payment_id = $2`,
			(time.Duration(ahead) * time.Minute).Microseconds(), id)
	}
	return want, func(n int) string { return of(n, "player-1") }
}

// handedOver hands over all that is ready, and returns the ids of an identifier in that order.
func (s *stand) handedOver(identifier string) (ids []string) {
	s.t.Helper()
	for {
		claims := s.claim()
		if len(claims) == 0 {
			return ids
		}
		for i := range claims {
			inbox.Handle(s.box, &claims[i])
			e := s.entry(claims[i].Key())
			if e.Payment.Identifier == identifier {
				ids = append(ids, e.Key)
			}
		}
	}
}

// TestClockSetBackAndHintsWait: an id that a webhook named is confirmed soon.
func TestClockSetBackAndHintsWait(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, func(c *inbox.Config) { c.Client = nobody{} })
		stranger, own := uuid.New(), uuid.New()
		require.NoError(t, s.box.Webhook().RecordHint(t.Context(), stranger))
		require.NoError(t, s.box.Expect(t.Context(), own, payments.CreateRequest{Title: "x", Identifier: "o", Amount: payments.NewAmount(1)}))
		require.NoError(t, s.box.Webhook().RecordHint(t.Context(), own)) // its confirm has failed
		require.NoError(t, inbox.Fold(s.box))
		require.NoError(t, inbox.LookAtClock(s.box))
		for _, id := range []uuid.UUID{stranger, own} {
			require.WithinRange(t, s.runAt(id.String()), time.Now().Add(time.Second), time.Now().Add(15*time.Second), "the clock is right")
		}
		s.clockBack(10 * time.Minute)
		require.NoError(t, inbox.LookAtClock(s.box))
		for _, id := range []uuid.UUID{stranger, own} {
			require.False(t, s.runAt(id.String()).After(time.Now()), "it is due")
		}
		require.NoError(t, inbox.ConfirmDue(s.box))
		for _, id := range []uuid.UUID{stranger, own} {
			e := s.entry(id.String())
			require.Equal(t, 1, e.Tries)
		}
	})
}

// TestClockLooksFurther: more payments wait for another try than one look reads; the next one goes on.
func TestClockLooksFurther(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		require.NoError(t, s.box.Webhook().Accept(t.Context(), nthPayment(1)))
		s.clockBack(2 * time.Hour)
		s.fill(inbox.ClockWindow, `'w-' || n, 2, '{}', {now} + 3600000000 + n, {now}, {now}, NULL, 0`, "wait = 3700000000", "payment_id LIKE 'w-%'")
		look := inbox.ClockLooks(s.box)
		require.NoError(t, look())
		require.Empty(t, s.claimed())
		require.NoError(t, look())
		require.Equal(t, []string{nthPayment(1).ID.String()}, s.claimed())
	})
}
