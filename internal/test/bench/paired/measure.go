package paired

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Rounds is how often each side is measured, after one round that warms up.
const Rounds = 5

// Enabled skips a measurement outside make bench: it is no test, it can only tell.
func Enabled(t *testing.T) {
	t.Helper()
	if os.Getenv("DEPOSITPAY_BENCH") == "" {
		t.Skip("SKIPPED: a measurement; run make bench")
	}
}

// Sample is one round of one side.
type Sample struct {
	PerSecond float64       // calls a second
	P50, P99  time.Duration // of one call; 0 where single calls are not timed
}

// Rate is a Sample's calls a second, P99 its 99th percentile in nanoseconds.
func Rate(s Sample) float64 { return s.PerSecond }

// P99 is for Ratio; see Rate.
func P99(s Sample) float64 { return float64(s.P99) }

// Side is one of the things compared.
type Side struct {
	// Name stands before the figures.
	Name string
	// Before, if set, prepares a round, and After tidies up behind it. Neither is timed.
	Before, After func(t *testing.T)
	// Round measures once.
	Round func(t *testing.T) Sample
}

// Calls returns a Round of n calls from a number of callers at once. An error of a call
// fails the test.
func Calls(n, callers int, call func() error) func(t *testing.T) Sample {
	return func(t *testing.T) Sample {
		t.Helper()
		took := make([]time.Duration, n)
		var next atomic.Int64
		var wg sync.WaitGroup
		began := time.Now()
		for range callers {
			wg.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					start := time.Now()
					if err := call(); err != nil {
						t.Error(err)
						return
					}
					took[i] = time.Since(start)
				}
			})
		}
		wg.Wait()
		total := time.Since(began)
		slices.Sort(took)
		return Sample{PerSecond: float64(n) / total.Seconds(), P50: took[n/2], P99: took[n*99/100]}
	}
}

// Compare runs the sides in turn, each round beginning with another one, and returns
// the samples of each side. It ends the test if a side failed: what is left to
// measure would mean nothing.
func Compare(t *testing.T, sides ...Side) [][]Sample {
	t.Helper()
	out := make([][]Sample, len(sides))
	for round := range Rounds + 1 {
		for k := range sides {
			s := (k + round) % len(sides)
			got := sides[s].measure(t)
			if round > 0 { // the first one warms up
				out[s] = append(out[s], got)
			}
		}
	}
	for s, side := range sides {
		report(t, side.Name, out[s])
	}
	return out
}

func (s *Side) measure(t *testing.T) Sample {
	t.Helper()
	failed := t.Failed()
	if s.Before != nil {
		s.Before(t)
	}
	runtime.GC() // what the others left is not this one's to clean up
	got := s.Round(t)
	if s.After != nil {
		s.After(t)
	}
	if !failed && t.Failed() {
		t.Fatalf("%s failed", s.Name)
	}
	return got
}

func report(t *testing.T, name string, samples []Sample) {
	t.Helper()
	last := samples[len(samples)/2]
	line := "%-44s %8.0f/s"
	args := []any{name, Median(samples, Rate)}
	if last.P99 > 0 {
		line += "  p50 %v  p99 %v"
		args = append(args, last.P50.Round(time.Microsecond), last.P99.Round(time.Microsecond))
	}
	t.Logf(line, args...)
}

// Median is the middle one of the samples' values.
func Median(samples []Sample, of func(Sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
