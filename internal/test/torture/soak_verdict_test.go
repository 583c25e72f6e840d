//go:build unix

package torture

import (
	"cmp"
	"slices"
	"strings"
)

// bound is what "it stays" means for a measure: the median of the last quarter is at most
// factor times the median of the second quarter, and slack more. The first quarter is for
// warming up. Where most is set no sample may be above it, and there is no trend.
type bound struct {
	of            measure
	factor, slack float64
	most          float64
}

const mebibyte = 1 << 20

// soakRemembered is what the inbox may keep in memory, of ids that it has seen: 5.1 MiB when
// 65,536 are known. At the rate of a soak that takes more than two hours.
const soakRemembered = 5.1 * mebibyte

// soakLog is what PostgreSQL keeps of its log in any case (min_wal_size): up to there files
// are used again and never removed, so a burst once is a larger log for ever.
const soakLog = 80 * mebibyte

// bounds are on what must not grow while payments come evenly. Slack is for what comes in
// steps: a segment of PostgreSQL's log, a run of the collector, calls under way.
var bounds = []bound{
	{of: resident, factor: 1.25},
	{of: heap, factor: 1.25, slack: soakRemembered + mebibyte},
	{of: goroutines, factor: 1, slack: 5},
	{of: files, factor: 1, slack: 5},
	{of: wal, factor: 1.25, slack: 16 * mebibyte},
	{of: intake, factor: 1.25, slack: mebibyte},
	{of: oldest, most: 60},
}

// theService keeps every payment, for the books: its memory is to grow.
const theService = "service"

// trend is what became of one measure of one process.
type trend struct {
	Of            string
	Measure       measure
	Before, After float64 // medians of the second and the last quarter
	Highest       float64
	Limit         float64 // of After, or of Highest if the bound is one for all samples
	Bounded       bool
}

// trends judges all there are bounds for. ok tells that all looks succeeded, and that each
// process was looked at in both quarters and is bounded.
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

// processes are those that were looked at, by name, and the service at the end.
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

// values are those of a measure of a process, of a span of time.
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
