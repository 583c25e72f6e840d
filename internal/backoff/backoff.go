// Package backoff computes waits by pure functions.
package backoff

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Delay returns the wait before try number attempt+1 (attempt counts failed tries from 0):
// exponential from low, at most high, with "equal jitter": at least half of the exponential
// value, so that a wait is never zero. jitter is in [0,1).
func Delay(attempt int, low, high time.Duration, jitter float64) time.Duration {
	if low <= 0 {
		low = time.Millisecond
	}
	if high < low {
		high = low
	}
	d := low
	for ; attempt > 0 && d < high; attempt-- {
		if d > high/2 {
			d = high
			break
		}
		d *= 2
	}
	return d/2 + time.Duration(jitter*float64(d-d/2))
}

// Jitter returns a number in [0,1) for Delay and Between.
func Jitter() float64 { return rand.Float64() } //nolint:gosec // a wait needs no secrecy

// Between returns a wait in [low, high).
func Between(low, high time.Duration, jitter float64) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(jitter*float64(high-low))
}

// maxSeconds is the largest number of seconds that fits a time.Duration.
const maxSeconds = int64(1<<63-1) / int64(time.Second)

// RetryAfter parses a Retry-After value (RFC 9110 §10.2.3): whole seconds or an HTTP date. A
// number too large for a duration gives the largest duration, a date in the past gives 0. ok
// is false for an empty, negative or malformed value. The caller must bound the result.
func RetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if allDigits(value) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n > maxSeconds {
			return time.Duration(1<<63 - 1), true
		}
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
