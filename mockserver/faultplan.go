package mockserver

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Faults are all faults that a server injects: rules, and faults at random. Whether a
// random fault strikes a call, and which one, depends only on Seed, the operation and
// the number of the call among those of its operation: the same calls meet the same
// faults, in whatever order the goroutines run.
//
// On the control API chance is a body with rate, and seed, operations, kinds and
// max_delay, as in {"rate":0.1,"seed":7,"kinds":["drop-after","cut"],"max_delay":"20ms"}.
type Faults struct {
	// Rules are asked first, in their order.
	Rules []Fault
	// Rate is the probability, from 0 (never) to 1, that a call that no rule fits is
	// struck.
	Rate float64
	// Seed chooses the calls.
	Seed uint64
	// Operations and Kinds limit the random faults. Default: all.
	Operations, Kinds []string
	// MaxDelay bounds the random delays: real time for answers, the mock's clock
	// for webhooks. Default 50 ms.
	MaxDelay time.Duration
}

// FaultEvent is one entry of the fault log: a call that a fault has struck.
type FaultEvent struct {
	// Operation and Call say which call: the number counts the calls of its operation,
	// from 1, since faults were set on a server that had none.
	Operation string
	Call      uint64
	// Fault is what happened, as in "cut bytes=17".
	Fault string
}

// String is one line of the log.
func (e FaultEvent) String() string { return fmt.Sprintf("%s %d %s", e.Operation, e.Call, e.Fault) }

const (
	defaultMaxDelay = 50 * time.Millisecond
	maxFaultRules   = 1000
	// maxFaultEvents is how many entries of one operation the fault log keeps.
	maxFaultEvents = 10_000
)

// faults are a server's current plan and what it did. They have a lock of their own.
type faults struct {
	on   atomic.Bool   // whether any fault is set: all that a request without faults asks
	stop chan struct{} // closed when the server closes

	mu    sync.Mutex
	plan  Faults
	since []uint64 // for each rule, how many calls of its operation came before it
	calls map[string]uint64
	log   map[string][]FaultEvent

	stopping sync.Once
}

func newFaults() *faults {
	return &faults{stop: make(chan struct{}), calls: map[string]uint64{}, log: map[string][]FaultEvent{}}
}

// set replaces all faults, and counts and logs from the beginning.
func (p *faults) set(f Faults) *Error {
	if problem := f.check(); problem != nil {
		return problem
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.since = f.clone(), make([]uint64, len(f.Rules))
	p.calls, p.log = map[string]uint64{}, map[string][]FaultEvent{}
	p.on.Store(len(f.Rules) > 0 || f.Rate > 0)
	return nil
}

func (p *faults) clear() { _ = p.set(Faults{}) } // no faults are never refused

// add adds a rule after those that are set.
func (p *faults) add(f Fault) *Error {
	if problem := f.check(); problem != nil {
		return problem
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plan.Rules) >= maxFaultRules {
		return storageFull("there are %d fault rules; clear them first", maxFaultRules)
	}
	p.plan.Rules = append(p.plan.Rules, f)
	p.since = append(p.since, p.calls[f.Operation])
	p.on.Store(true)
	return nil
}

// setChance replaces the faults that come by chance and keeps the rules.
func (p *faults) setChance(f Faults) *Error {
	if problem := f.check(); problem != nil {
		return problem
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f = f.clone()
	f.Rules = p.plan.Rules
	p.plan = f
	p.on.Store(len(f.Rules) > 0 || f.Rate > 0)
	return nil
}

// current returns a copy of the faults that are set.
func (p *faults) current() Faults {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan.clone()
}

// entries returns the fault log, sorted by operation and call.
func (p *faults) entries() []FaultEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []FaultEvent
	for _, op := range faultOperations {
		log := p.log[op]
		list = append(list, log[max(0, len(log)-maxFaultEvents):]...)
	}
	return list
}

// wait waits for d in real time. It is false when the server closes first; given
// ends the wait too.
func (p *faults) wait(d time.Duration, given <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-given:
		return true
	case <-p.stop:
		return false
	}
}

// close ends all waits.
func (p *faults) close() { p.stopping.Do(func() { close(p.stop) }) }

// decide counts a call of op and returns the fault that strikes it, nil for none.
func (p *faults) decide(op string) *Fault {
	if !p.on.Load() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[op]++
	n := p.calls[op]
	fault := p.choose(op, n)
	if fault == nil {
		return nil
	}
	log := p.log[op]
	if len(log) == 2*maxFaultEvents { // drop the older half at once, which costs little
		log = append(log[:0], log[maxFaultEvents:]...)
	}
	p.log[op] = append(log, FaultEvent{Operation: op, Call: n, Fault: fault.String()})
	return fault
}

func (p *faults) choose(op string, n uint64) *Fault {
	for i := range p.plan.Rules {
		rule := &p.plan.Rules[i]
		if rule.Operation == op && n > p.since[i] && rule.strikes(n-p.since[i]) {
			return rule
		}
	}
	return p.plan.draw(op, n)
}

// strikes reports whether the rule fits the n-th call since it was added.
func (f *Fault) strikes(n uint64) bool {
	switch {
	case f.Nth > 0:
		return n == uint64(f.Nth)
	case f.Every > 0:
		return n%uint64(f.Every) == 0
	case f.First > 0:
		return n <= uint64(f.First)
	case f.Probability > 0:
		return dice(f.Seed, f.Operation, n).Float64() < f.Probability
	}
	return true
}

func (f *Faults) clone() Faults {
	out := *f
	out.Rules = slices.Clone(f.Rules)
	out.Operations, out.Kinds = slices.Clone(f.Operations), slices.Clone(f.Kinds)
	return out
}

// dice is the random source of one call. It has no state, so concurrent calls cannot
// disturb each other.
func dice(seed uint64, op string, n uint64) *rand.Rand {
	name := fnv.New64a()
	_, _ = name.Write([]byte(op))                      // never fails
	return rand.New(rand.NewPCG(seed^name.Sum64(), n)) //nolint:gosec // repeatable, not secret
}

// draw returns the random fault of a call, nil for none.
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

// kindsOf are the kinds that a random fault of op may have, in the order of the table:
// the order of the list makes no difference.
func (f *Faults) kindsOf(op string) []string {
	kinds := FaultKinds(op)
	if len(f.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(kinds, func(kind string) bool { return !slices.Contains(f.Kinds, kind) })
}
