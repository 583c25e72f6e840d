package mockserver

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// dice is the chance of one call. It has no memory, so that calls at once cannot
// disturb each other.
func dice(seed uint64, op string, n uint64) *rand.Rand {
	name := fnv.New64a()
	_, _ = name.Write([]byte(op))                      // it never fails
	return rand.New(rand.NewPCG(seed^name.Sum64(), n)) //nolint:gosec // to be repeated, not to be secret
}

// draw lets chance decide about a call.
func (f *Faults) draw(op string, n uint64) *Fault {
	if f.Rate == 0 || len(f.Operations) > 0 && !slices.Contains(f.Operations, op) {
		return nil
	}
	d := dice(f.Seed, op, n)
	if d.Float64() >= f.Rate {
		return nil
	}
	kinds := f.kindsOf(op)
	if len(kinds) == 0 {
		return nil
	}
	out := &Fault{Operation: op, Kind: kinds[d.IntN(len(kinds))]}
	if out.needsDelay() {
		longest := f.MaxDelay
		if longest == 0 {
			longest = defaultMaxDelay
		}
		out.Delay = longest * time.Duration(1+d.IntN(100)) / 100
	}
	if out.Kind == faultCut {
		out.Bytes = d.IntN(128)
	}
	switch out.Kind {
	case faultStatusBefore:
		out.Status = []int{429, 500, 502, 503, 504}[d.IntN(5)]
	case faultStatusAfter: // 429 would deny what was done, and no client could know
		out.Status = []int{500, 502, 503, 504}[d.IntN(4)]
	}
	return out
}

// kindsOf are the kinds that chance may choose from for op, in the order of the table,
// so that the order of the list makes no difference.
func (f *Faults) kindsOf(op string) []string {
	kinds := FaultKinds(op)
	if len(f.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(kinds, func(kind string) bool { return !slices.Contains(f.Kinds, kind) })
}
