package inboxbench_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }

const (
	callers = 64
	rounds  = 5
)

// benching skips a measurement outside make bench: it is no test, it can only tell.
func benching(t *testing.T) {
	t.Helper()
	if os.Getenv("DEPOSITPAY_BENCH") == "" {
		t.Skip("SKIPPED: a measurement; run make bench")
	}
}

// sample is one round of one side.
type sample struct {
	rate float64 // calls a second
	p50  time.Duration
	p99  time.Duration
}

// load makes n calls from a number of callers.
func load(t *testing.T, n, callers int, call func(i int) error) sample {
	t.Helper()
	took := make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range callers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				start := time.Now()
				if err := call(i); err != nil {
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
	return sample{rate: float64(n) / total.Seconds(), p50: took[n/2], p99: took[n*99/100]}
}

// side is one of the things compared: each round makes its call anew.
type side struct {
	name string
	n    int
	call func(i int) error
}

// compare runs the sides in turn and returns their samples, by side.
func compare(t *testing.T, sides ...side) [][]sample {
	t.Helper()
	out := make([][]sample, len(sides))
	for round := range rounds + 1 {
		for k := range sides {
			s := (k + round) % len(sides)
			got := load(t, sides[s].n, callers, sides[s].call)
			if round > 0 { // the first one warms up
				out[s] = append(out[s], got)
			}
		}
	}
	for s, side := range sides {
		last := out[s][len(out[s])/2]
		t.Logf("%-42s %8.0f/s  p50 %v  p99 %v", side.name, median(out[s], rate), last.p50, last.p99)
	}
	return out
}

func rate(s sample) float64 { return s.rate }
func p99(s sample) float64  { return float64(s.p99) }

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratio prints a÷b, round by round, beside its goal.
func ratio(t *testing.T, name string, a, b []sample, of func(sample) float64, goal float64, least bool) {
	t.Helper()
	values := make([]float64, len(a))
	for i := range a {
		values[i] = of(a[i]) / of(b[i])
	}
	slices.Sort(values)
	got := values[len(values)/2]
	met, sign := got <= goal, "<="
	if least {
		met, sign = got >= goal, ">="
	}
	verdict := "ok"
	if !met {
		verdict = "MISSED"
	}
	fmt.Printf("%-66s %.2f [%.2f-%.2f]  goal %s %.2f  %s\n", name, got, values[0], values[len(values)-1], sign, goal, verdict)
	require.True(t, met, "%s: %.2f, goal %s %.2f", name, got, sign, goal)
}
