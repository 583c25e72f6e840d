package backoff_test

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/backoff"
)

func TestDelay(t *testing.T) {
	t.Parallel()
	const low, high = 200 * time.Millisecond, 10 * time.Second
	for attempt, most := range []time.Duration{200, 400, 800, 1600, 3200, 6400, 10_000, 10_000} {
		most *= time.Millisecond
		require.Equal(t, most/2, backoff.Delay(attempt, low, high, 0), attempt)
		require.InDelta(t, float64(most), float64(backoff.Delay(attempt, low, high, 0.999999)), float64(most)/1000)
	}
	require.Positive(t, backoff.Delay(0, 0, 0, 0.5))
	require.LessOrEqual(t, backoff.Delay(math.MaxInt, time.Nanosecond, math.MaxInt64, 0.9), time.Duration(math.MaxInt64))
	require.Equal(t, time.Hour/2, backoff.Delay(3, time.Hour, time.Minute, 0), "low wins over a lower high")
}

func TestBetween(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3*time.Second, backoff.Between(3*time.Second, 5*time.Second, 0))
	require.Equal(t, 4*time.Second, backoff.Between(3*time.Second, 5*time.Second, 0.5))
	require.Equal(t, 3*time.Second, backoff.Between(3*time.Second, time.Second, 0.5))
	for range 1000 {
		j := backoff.Jitter()
		require.True(t, j >= 0 && j < 1)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "007": 7 * time.Second,
		"9223372036": 9223372036 * time.Second, "9223372037": math.MaxInt64,
		"9223372036854775807": math.MaxInt64, "99999999999999999999999": math.MaxInt64,
		now.Add(time.Hour).Format(http.TimeFormat): time.Hour, now.Add(-time.Hour).Format(http.TimeFormat): 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": math.MaxInt64,
	} {
		got, ok := backoff.RetryAfter(value, now)
		require.True(t, ok, value)
		require.Equal(t, want, got, value)
	}
	for _, value := range []string{"", " ", "-1", "+1", "1.5", "1e3", "soon", "Fri, 99 Dec 2026 00:00:00 GMT", "１"} {
		_, ok := backoff.RetryAfter(value, now)
		require.False(t, ok, value)
	}
}

// FuzzRetryAfter: whatever the header says, the wait is not negative and does not
// overflow, and plain seconds mean what they say.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "120", "-1", "9223372036854775807", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "Friday, 31-Dec-99 23:59:59 GMT", "1e9", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		wait, ok := backoff.RetryAfter(value, time.Unix(1_700_000_000, 0))
		if wait < 0 || !ok && wait != 0 {
			t.Fatalf("%q: %v %v", value, wait, ok)
		}
		if n, err := strconv.ParseUint(value, 10, 32); err == nil && (!ok || wait != time.Duration(n)*time.Second) {
			t.Fatalf("%q: %v %v", value, wait, ok)
		}
	})
}
