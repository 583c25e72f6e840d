//go:build unix

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// cost is what one call costs this process.
type cost struct {
	cpu    float64 // ns of CPU time, all threads
	wall   float64 // ns
	allocs float64
}

// measure makes n calls from callers goroutines. The first error ends it.
func measure(n, callers int, call func() error) (cost, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()

	var left atomic.Int64
	left.Store(int64(n))
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 && failure.Load() == nil {
				if err := call(); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	runtime.ReadMemStats(&after)
	if err := failure.Load(); err != nil {
		return cost{}, *err
	}
	calls := float64(n)
	return cost{
		cpu:    float64(cpu) / calls,
		wall:   float64(wall) / calls,
		allocs: float64(after.Mallocs-before.Mallocs) / calls,
	}, nil
}

// cpuTime is the CPU time of this process so far, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pair measures two ways of the same call in turn, the order changing with each round.
func pair(rounds, n, callers int, ours, theirs func() error) (a, b []cost, err error) {
	for _, warm := range []func() error{ours, theirs} {
		if _, err := measure(n/10+1, callers, warm); err != nil {
			return nil, nil, err
		}
	}
	for round := range rounds {
		order := []struct {
			call func() error
			into *[]cost
		}{{ours, &a}, {theirs, &b}}
		if round%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for _, side := range order {
			c, err := measure(n, callers, side.call)
			if err != nil {
				return nil, nil, err
			}
			*side.into = append(*side.into, c)
		}
	}
	return a, b, nil
}

// ratios divides the costs of each round.
func ratios(a, b []cost, of func(cost) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = of(a[i]) / of(b[i])
	}
	return out
}

func mean(costs []cost, of func(cost) float64) float64 {
	sum := 0.0
	for _, c := range costs {
		sum += of(c)
	}
	return sum / float64(len(costs))
}

func byCPU(c cost) float64    { return c.cpu }
func byWall(c cost) float64   { return c.wall }
func byAllocs(c cost) float64 { return c.allocs }
