//go:build unix

package torture

import (
	"cmp"
	"slices"
	"strings"
)

// bound defines "does not grow" for a measure: the median of the last quarter is at most
// factor times the median of the second quarter plus slack. The first quarter is warm-up. If
// most is set, no sample may exceed it, and no trend is computed.
type bound struct {
	of            measure
	factor, slack float64
	most          float64
}

const mebibyte = 1 << 20

// soakRemembered is the memory the inbox may use for known ids: 5.1 MiB for 65,536 of them,
// a number that a soak takes more than two hours to reach.
const soakRemembered = 5.1 * mebibyte

// soakLog is the log that PostgreSQL always keeps (min_wal_size): files up to that size are
// reused and never removed, so one burst enlarges the log permanently.
const soakLog = 80 * mebibyte

// bounds limit what must not grow under an even load. Slack covers what grows in steps: a
// segment of PostgreSQL's log, a garbage collection, calls in flight.
var bounds = []bound{
	{of: resident, factor: 1.25},
	{of: heap, factor: 1.25, slack: soakRemembered + mebibyte},
	{of: goroutines, factor: 1, slack: 5},
	{of: files, factor: 1, slack: 5},
	{of: wal, factor: 1.25, slack: 16 * mebibyte},
	{of: intake, factor: 1.25, slack: mebibyte},
	{of: oldest, most: 60},
}

// theService keeps every payment for the comparison, so its memory grows.
const theService = "service"

// trend is the development of one measure of one process.
type trend struct {
	Of            string
	Measure       measure
	Before, After float64 // medians of the second and the last quarter
	Highest       float64
	Limit         float64 // of After, or of Highest if the bound is one for all samples
	Bounded       bool
}

// trends judges all measures with bounds. ok reports whether every sample succeeded, and
// whether each process was sampled in both quarters and stayed within its bounds.
func trends(length float64, all []sample) (found []trend, ok bool) {
	ok = len(all) > 0
	for _, s := range all {
		ok = ok && s.Failed == ""
	}
	for _, of := range processes(all) {
		for _, b := range bounds {
			if of == theService && (b.of == resident || b.of == heap) {
				continue
			}
			highest, has := values(all, of, b.of, 0, length)
			if !has {
				continue
			}
			t := b.judge(length, all, of)
			t.Highest = slices.Max(highest)
			if b.most > 0 {
				t.Limit, t.Bounded = b.most, t.Highest <= b.most
			}
			found = append(found, t)
			ok = ok && t.Bounded
		}
	}
	return found, ok
}

func (b bound) judge(length float64, all []sample, of string) trend {
	second, hasSecond := values(all, of, b.of, length/4, length/2)
	last, hasLast := values(all, of, b.of, length*3/4, length)
	t := trend{Of: of, Measure: b.of}
	if hasSecond && hasLast {
		t.Before, t.After = median(second), median(last)
		t.Limit = t.Before*b.factor + b.slack
		if b.of == wal && strings.HasPrefix(of, "PostgreSQL") {
			t.Limit = max(t.Limit, soakLog)
		}
		t.Bounded = t.After <= t.Limit
	}
	return t
}

// processes returns the names of the sampled processes, the service last.
func processes(all []sample) (names []string) {
	for _, s := range all {
		if !slices.Contains(names, s.Of) {
			names = append(names, s.Of)
		}
	}
	rank := map[string]int{theService: 2, "SQLite": 0}
	slices.SortFunc(names, func(a, b string) int {
		ra, known := rank[a]
		if !known {
			ra = 1
		}
		rb, known := rank[b]
		if !known {
			rb = 1
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a, b))
	})
	return names
}

// values returns a measure's values for one process in a period.
func values(all []sample, of string, m measure, from, to float64) (found []float64, any bool) {
	for _, s := range all {
		if v, has := s.Values[m]; has && s.Of == of && s.At >= from && s.At <= to {
			found = append(found, v)
		}
	}
	return found, len(found) > 0
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
