package mockserver

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Faults is all the trouble that a server makes: rules, and faults that come by
// chance. Whether chance strikes a call, and how, depends on Seed, the operation and
// the number of the call among those of its operation, and on nothing else: the same
// calls meet the same faults, in whatever order the goroutines run.
//
// On the control API chance is a body with rate, and seed, operations, kinds and
// max_delay, as in {"rate":0.1,"seed":7,"kinds":["drop-after","cut"],"max_delay":"20ms"}.
type Faults struct {
	// Rules are asked first, in their order.
	Rules []Fault
	// Rate is the probability, from 0 (no chance at all) to 1, that a call which no
	// rule fits is struck.
	Rate float64
	// Seed chooses the calls.
	Seed uint64
	// Operations and Kinds bound what chance may do. Default: all.
	Operations, Kinds []string
	// MaxDelay bounds the delays of chance: real time for answers, the mock's clock
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

// faults is a server's present plan.
type faults struct {
	on   atomic.Bool   // whether there is any fault: all that an untroubled request asks
	stop chan struct{} // closed when the server closes

	mu    sync.Mutex
	plan  Faults
	since []uint64 // for each rule, how many calls of its operation came before it
	calls map[string]uint64
	log   map[string][]FaultEvent

	stopping sync.Once

	// held is the webhook that the next one is to overtake, guarded by Server.mu.
	held *event
}

func newFaults() *faults {
	return &faults{stop: make(chan struct{}), calls: map[string]uint64{}, log: map[string][]FaultEvent{}}
}

// SetFaults replaces all faults, counts calls from 1 again and empties the fault log.
// The zero Faults ends all trouble. The error is an [*Error] that names the field.
func (s *Server) SetFaults(f Faults) error {
	if problem := f.check(); problem != nil {
		return problem
	}
	s.faults.set(f)
	return nil
}

// AddFault adds a rule after those that are there. The error is an [*Error] that names
// the field; at 1000 rules it is [CodeStorageFull].
func (s *Server) AddFault(f Fault) error {
	if problem := s.addFault(f); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) addFault(f Fault) *Error {
	if problem := f.check(); problem != nil {
		return problem
	}
	p := s.faults
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plan.Rules) >= maxFaultRules {
		return &Error{Code: CodeStorageFull, Message: fmt.Sprintf("there are %d fault rules; clear them first", maxFaultRules)}
	}
	p.plan.Rules = append(p.plan.Rules, f)
	p.since = append(p.since, p.calls[f.Operation])
	p.on.Store(true)
	return nil
}

// ClearFaults ends all trouble and empties the fault log. What was delayed before still
// comes late.
func (s *Server) ClearFaults() { s.faults.set(Faults{}) }

// set replaces everything by faults that are checked.
func (p *faults) set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.since = f.clone(), make([]uint64, len(f.Rules))
	p.calls, p.log = map[string]uint64{}, map[string][]FaultEvent{}
	p.on.Store(len(f.Rules) > 0 || f.Rate > 0)
}

// setChance replaces what comes by chance and keeps the rules.
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

// Faults returns a copy of the faults that are set.
func (s *Server) Faults() Faults {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return s.faults.plan.clone()
}

// FaultLog returns what faults did, sorted by operation (in the order of
// [FaultOperations]) and number of the call, at most the last 10,000 of each
// operation. The same faults and the same calls make the same log.
func (s *Server) FaultLog() []FaultEvent {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	var list []FaultEvent
	for _, op := range faultOperations {
		log := s.faults.log[op]
		list = append(list, log[max(0, len(log)-maxFaultEvents):]...)
	}
	return list
}

// decide counts a call of op and tells which fault strikes it, nil for none.
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
	if len(log) == 2*maxFaultEvents { // the older half, at once, so that it costs little
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

// strikes reports whether the rule means the n-th call since it was added.
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
