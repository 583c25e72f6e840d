package mockserver_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// accelerated is a server in a bubble, whose real time is the bubble's.
func accelerated(t *testing.T, begin time.Time, factor float64, change ...func(*mockserver.Config)) *mockserver.Server {
	t.Helper()
	cfg := mockserver.Config{Clock: mockserver.NewAcceleratedClock(begin, factor)}
	for _, f := range change {
		f(&cfg)
	}
	s, err := mockserver.New(cfg)
	require.NoError(t, err)
	return s
}

// The whole schedule of 75 hours passes in 75 seconds.
func TestAcceleratedSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var at []time.Duration
		s := accelerated(t, start, 3600, withHook(func(*http.Request, string) (int, error) {
			at = append(at, time.Since(begun))
			return http.StatusInternalServerError, nil
		}))
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		<-time.After(76 * time.Second) // of the bubble
		synctest.Wait()
		require.Len(t, at, 10)
		d := onlyDelivery(t, s)
		for i, a := range d.Attempts {
			// A timer counts whole nanoseconds, which are 3.6 µs of the mock's clock.
			assert.InDelta(t, offset(t, i), a.Started.Sub(start), float64(100*time.Microsecond), "by the mock's clock")
			assert.InDelta(t, offset(t, i)/3600, at[i], 100, "by the real one")
		}
		assert.Equal(t, mockserver.DeliveryFailed, d.Status)
		assert.Equal(t, start.Add(76*time.Hour), s.Now())
		assert.Contains(t, poll(t, s), `"verified_ts":"2025-03-04T16:00:00Z"`)
	})
}

// Advance adds to a clock that runs, and shortens the waits that are left.
func TestAdvanceOnAnAcceleratedClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := accelerated(t, start, 60, withHook(answers(500)))
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		s.Advance(5*time.Minute + 5*time.Second)
		require.Len(t, onlyDelivery(t, s).Attempts, 3)
		assert.Equal(t, start.Add(5*time.Minute+5*time.Second), s.Now())
		s.Advance(29 * time.Minute) // the next one is due in a minute, which is a second
		<-time.After(time.Second - time.Nanosecond)
		synctest.Wait()
		assert.Len(t, onlyDelivery(t, s).Attempts, 3)
		<-time.After(10 * time.Nanosecond)
		synctest.Wait()
		assert.Len(t, onlyDelivery(t, s).Attempts, 4)
		a, ok := s.JumpToNextAttempt()
		require.True(t, ok)
		assert.WithinDuration(t, start.Add(offset(t, 4)), a.Started, time.Microsecond)
	})
}

// A receiver is not accelerated: it has its Patience of real time.
func TestReceiversOfAnAcceleratedClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 20)
		s := accelerated(t, start, 10_000, withHook(hangs(begun)), patience(3*time.Second))
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		<-time.After(3*time.Second - time.Nanosecond)
		synctest.Wait()
		assert.True(t, onlyDelivery(t, s).Attempts[0].Ended.IsZero())
		<-time.After(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, start.Add(30_000*time.Second), onlyDelivery(t, s).Attempts[0].Ended)
	})
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 20)
		s := accelerated(t, start, 2, withHook(hangs(begun)), patience(3*time.Second))
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		<-time.After(5 * time.Second)
		synctest.Wait()
		assert.Equal(t, start.Add(10*time.Second), onlyDelivery(t, s).Attempts[0].Ended, "10 s are 5 s of real time, which is more")
	})
}

func TestAcceleratedExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := accelerated(t, start, 24, func(c *mockserver.Config) { c.Lifetime = 24 * time.Hour })
		defer func() { assert.NoError(t, s.Close()) }()
		create(t, s, "")
		<-time.After(time.Hour - time.Nanosecond)
		assert.Equal(t, mockserver.StatusCreated, s.Payments()[0].Status)
		<-time.After(time.Nanosecond)
		assert.Equal(t, mockserver.StatusExpired, s.Payments()[0].Status)
	})
}

func TestAcceleratedClocks(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{0, 0.5, -1, 100_001, math.NaN(), math.Inf(1)} {
		_, err := mockserver.New(mockserver.Config{Clock: mockserver.NewAcceleratedClock(start, factor)})
		require.EqualError(t, err, "mockserver: Config.Clock: the factor of an accelerated clock must be from 1 to 100000")
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		clock := mockserver.NewAcceleratedClock(time.Time{}, 100_000)
		<-time.After(time.Minute)
		s, err := mockserver.New(mockserver.Config{Clock: clock})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		assert.True(t, s.Now().Equal(begin.Add(time.Minute)), "it begins with the server, at the real time")
		<-time.After(1000 * time.Hour)
		far := s.Now()
		<-time.After(1000 * time.Hour)
		assert.True(t, far.Equal(begin.Add(time.Minute).Add(100*365*24*time.Hour)), "%v", far)
		assert.Equal(t, far, s.Now(), "a clock stops after 100 years")
		s.Advance(200 * 365 * 24 * time.Hour)
		assert.Equal(t, far.Add(100*365*24*time.Hour), s.Now())
	})
}

func TestControlClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // it begins at 2000-01-01
		for want, clock := range map[string]mockserver.Clock{
			`{"now":"2000-01-01T00:00:00Z","mode":"real","factor":1}`:          {},
			`{"now":"2025-03-01T12:00:00Z","mode":"stopped","factor":0}`:       mockserver.NewStoppedClock(start),
			`{"now":"2025-03-01T12:00:00Z","mode":"accelerated","factor":2.5}`: mockserver.NewAcceleratedClock(start, 2.5),
		} {
			s, err := mockserver.New(mockserver.Config{Clock: clock})
			require.NoError(t, err)
			status, answer := call(t, s, "GET", "/_mock/clock", "")
			assert.Equal(t, 200, status)
			assert.JSONEq(t, want, answer)
			assert.NoError(t, s.Close())
		}
	})
}
