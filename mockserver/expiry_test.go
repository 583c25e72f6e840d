package mockserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// anHour is how long an unpaid payment lives.
func anHour(c *mockserver.Config) { c.Lifetime = time.Hour }

func statusIs(t *testing.T, s *mockserver.Server, id string, want mockserver.Status) {
	t.Helper()
	p, ok := s.Payment(id)
	require.True(t, ok)
	assert.Equal(t, want, p.Status)
}

func TestExpiryIsExact(t *testing.T) {
	t.Parallel()
	s := stopped(t, anHour)
	a := create(t, s, `"amount":1`)
	s.Advance(time.Minute)
	b, paid := create(t, s, `"amount":1`), create(t, s, `"amount":1`)
	_, err := s.GivePayer(b, "Kim", 0)
	require.NoError(t, err)
	deposit(t, s, paid, 1)

	s.Advance(59*time.Minute - 1)
	statusIs(t, s, a, mockserver.StatusCreated)
	s.Advance(1)
	statusIs(t, s, a, mockserver.StatusExpired)
	statusIs(t, s, b, mockserver.StatusWaiting)
	s.Advance(1000 * time.Hour)
	statusIs(t, s, b, mockserver.StatusExpired)
	statusIs(t, s, paid, mockserver.StatusProgress)

	p, _ := s.Payment(b)
	assert.Equal(t, start.Add(61*time.Minute), p.ExpiresAt)
	events, err := s.Timeline(b)
	require.NoError(t, err)
	assert.Equal(t, mockserver.Event{At: p.ExpiresAt, Kind: mockserver.EventExpired, Text: "nobody paid in time"}, events[len(events)-1])

	_, err = s.Deposit(a, mockserver.Deposit{})
	wantCode(t, mockserver.CodePaymentExpired, err)
	_, err = s.GivePayer(a, "Kim", 0)
	wantCode(t, mockserver.CodePaymentExpired, err)
	wantError(t, mockserver.CodePaymentNotPaid, confirm(t, s, a), "expired")
	assert.NotContains(t, confirm(t, s, a), "webhook", "none will come")
	wantError(t, mockserver.CodePaymentNotPaid, resend(t, s, a), "expired")
	wantError(t, mockserver.CodePaymentExpired, control(t, s, 409, "POST", "/payments/"+a+"/deposit", ""))
	assert.Contains(t, poll(t, s), paid)
	_, err = mockserver.New(mockserver.Config{Lifetime: -1})
	require.ErrorContains(t, err, "Config.Lifetime")
}

func TestPaymentsDoNotExpireByDefault(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"amount":1`)
	s.Advance(50 * 365 * 24 * time.Hour)
	p, _ := s.Payment(id)
	assert.Equal(t, mockserver.StatusCreated, p.Status)
	assert.Zero(t, p.ExpiresAt)
	deposit(t, s, id, 1)
}

func TestLateDeposit(t *testing.T) {
	t.Parallel()
	s := stopped(t, anHour, func(c *mockserver.Config) { c.LateDeposit = true })
	id := create(t, s, `"amount":5`)
	s.Advance(2 * time.Hour)
	statusIs(t, s, id, mockserver.StatusExpired)
	_, err := s.GivePayer(id, "Kim", 0)
	wantCode(t, mockserver.CodePaymentExpired, err)
	deposit(t, s, id, 5)
	assert.Contains(t, poll(t, s), id)
	s.Advance(time.Hour)
	statusIs(t, s, id, mockserver.StatusComplete)
	_, err = s.Deposit(id, mockserver.Deposit{})
	wantCode(t, mockserver.CodePaymentAlreadyPaid, err)
}

func TestExpiryIsNotAnAttempt(t *testing.T) {
	t.Parallel()
	s := stopped(t, anHour, withHook(answers(500)))
	create(t, s, `"amount":1`)
	_, ok := s.JumpToNextAttempt()
	assert.False(t, ok)
	assert.Equal(t, start, s.Now(), "nothing to jump to")

	s.Advance(30 * time.Minute)
	id := create(t, s, `"amount":1`)
	deposit(t, s, id, 1)
	var last mockserver.Attempt
	for {
		a, ok := s.JumpToNextAttempt()
		if !ok {
			break
		}
		last = a
	}
	assert.Equal(t, start.Add(30*time.Minute+offset(t, 9)), last.Started, "expiry on the way costs no attempt")
	statusIs(t, s, s.Payments()[0].ID, mockserver.StatusExpired)
}

// A page that waits hears of the expiry without any other request.
func TestExpiryOnTheRealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := mockserver.New(mockserver.Config{Lifetime: time.Hour})
		require.NoError(t, err)
		first := create(t, s, `"amount":1`)
		<-time.After(30 * time.Minute) // of the bubble
		second := create(t, s, `"amount":1`)
		begun, seen := time.Now(), generation(s)
		assert.NotEqual(t, seen, await(t, s, seen))
		assert.Equal(t, 30*time.Minute, time.Since(begun))
		statusIs(t, s, first, mockserver.StatusExpired)
		statusIs(t, s, second, mockserver.StatusCreated)
		seen = generation(s)
		assert.NotEqual(t, seen, await(t, s, seen))
		assert.Equal(t, time.Hour, time.Since(begun))
		statusIs(t, s, second, mockserver.StatusExpired)

		third := create(t, s, `"amount":1`)
		require.NoError(t, s.Close())
		<-time.After(3 * time.Hour)
		assert.Equal(t, mockserver.StatusExpired, s.Payments()[2].Status, "no clock runs, but who looks sees it")
		events := timeline(t, s, third) // noticed late, recorded with its own time
		assert.Equal(t, time.Hour, events[1].At.Sub(events[0].At))
	})
}
