//go:build unix

package torture

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgwire"
	"github.com/depositpay/depositpay-go/mockserver"
)

// profile holds the settings of a campaign other than seed and length.
type profile struct {
	Database  string // "sqlite" or "postgres"
	Merchants int
	Rate      int // customers a second
	Forged    int // percent of them whose webhook is forged before they pay
	Half      int // percent of them who pay half
	Mutant    mutant
	Channel   inbox.Channel // the only one that its merchants use; 0: both
	// OnlyCreated: there is no store, and every second poll is struck and nothing else, so that
	// there are possible losses, and that they can be proven empty.
	OnlyCreated bool

	// How often each kind of trouble comes, about; 0: never.
	Kill, Stop, Pause, Restart, Step, Silence, Faults, Cut, Stall time.Duration
	// How long a pause is.
	PauseMin, PauseMax time.Duration
	// How likely a call of the service is struck, at most.
	MaxRate float64
	// How long a payment may wait. Default longest.
	Patience time.Duration
}

// shortLease replaces the lease of a claim on PostgreSQL (see connector), so that pauses
// outlast it.
const shortLease = 1500 * time.Millisecond

func usual(database string) profile {
	p := profile{
		Database: database, Merchants: 4, Rate: 75, Forged: 3, Half: 2,
		Kill: 1800 * time.Millisecond, Stop: 20 * time.Second, Pause: 4 * time.Second, Restart: 25 * time.Second,
		Step: 8 * time.Second, Silence: 12 * time.Second, Faults: 10 * time.Second,
		PauseMin: shortLease + 300*time.Millisecond, PauseMax: 2 * shortLease, MaxRate: 0.12,
		Cut: 1500 * time.Millisecond, Stall: 8 * time.Second,
	}
	if database == "sqlite" { // one process has the file: nobody takes over during a pause
		p.Merchants, p.Restart, p.PauseMin, p.PauseMax = 1, 0, 200*time.Millisecond, 1500*time.Millisecond
		p.Cut, p.Stall = 0, 0
	}
	return p
}

func (p profile) patience() time.Duration { return cmp.Or(p.Patience, longest) }

// uses reports whether the merchants receive by that channel.
func (p profile) uses(c inbox.Channel) bool { return p.Channel == 0 || p.Channel == c }

type trouble string

const (
	killed    trouble = "kill"    // SIGKILL
	stopped   trouble = "stop"    // SIGTERM, a clean end
	paused    trouble = "pause"   // SIGSTOP, For, SIGCONT
	restarted trouble = "restart" // the database crashes, and is away For
	stepped   trouble = "step"    // the service's clock goes on by For
	silence   trouble = "silence" // no webhook URI is configured, For
	faulty    trouble = "faults"  // other faults
	cutOff    trouble = "cut"     // a connection to the database ends, at any message
	stalled   trouble = "stall"   // a connection to the database is silent from a message on
)

// event is one trouble of a plan.
type event struct {
	At       time.Duration
	Kind     trouble
	Merchant int
	For      time.Duration
	Faults   mockserver.Faults
	Message  int // which of the next ones is struck
	Action   pgwire.Action
}

// plan is all the trouble of a campaign, by kind: kinds overlap, troubles of a kind do not.
type plan map[trouble][]event

// newPlan returns the plan for its arguments; nothing else influences it.
func newPlan(seed uint64, length time.Duration, p profile) plan {
	all := plan{}
	for i, k := range []struct {
		kind  trouble
		every time.Duration
	}{{killed, p.Kill}, {stopped, p.Stop}, {paused, p.Pause}, {restarted, p.Restart}, {stepped, p.Step}, {silence, p.Silence}, {faulty, p.Faults}, {cutOff, p.Cut}, {stalled, p.Stall}} {
		if k.every == 0 {
			continue
		}
		k.every = min(k.every, length/2) // a short campaign has some of everything
		r := rand.New(rand.NewPCG(seed, uint64(i+1)))
		at := time.Duration(0) // faults are there from the beginning, all else comes later
		if k.kind != faulty {
			at = between(r, k.every/2, k.every*3/2)
		}
		for ; at < length; at += between(r, k.every/2, k.every*3/2) {
			all[k.kind] = append(all[k.kind], newEvent(r, at, k.kind, p))
		}
	}
	return all
}

func newEvent(r *rand.Rand, at time.Duration, kind trouble, p profile) event {
	e := event{At: at, Kind: kind}
	switch kind {
	case killed, stopped:
		e.Merchant = r.IntN(p.Merchants)
	case paused:
		e.Merchant, e.For = r.IntN(p.Merchants), between(r, p.PauseMin, p.PauseMax)
	case restarted:
		e.For = between(r, 100*time.Millisecond, 1500*time.Millisecond)
	case stepped:
		e.For = between(r, 5*time.Second, 7*time.Minute)
	case silence:
		e.For = between(r, 500*time.Millisecond, 3*time.Second)
	case cutOff:
		e.Message, e.Action = 1+r.IntN(400), []pgwire.Action{pgwire.CutBefore, pgwire.CutAfter}[r.IntN(2)]
	case stalled:
		e.Message, e.Action = 1+r.IntN(400), pgwire.Stall
	case faulty:
		e.Faults = mockserver.Faults{
			Rate: p.MaxRate/6 + r.Float64()*p.MaxRate*5/6, Seed: r.Uint64(),
			Operations: []string{"create", "next", "confirm", "webhook"}, MaxDelay: 300 * time.Millisecond,
		}
		if p.OnlyCreated {
			e.Faults.Rate, e.Faults.Operations = 0.5, []string{"next"}
		}
	}
	return e
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)+1))
}

// fingerprint returns a hash of the plan.
func (p plan) fingerprint() string {
	sum := fnv.New64a()
	kinds := make([]string, 0, len(p))
	for kind := range p {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		_, _ = fmt.Fprintf(sum, "%+v", p[trouble(kind)]) // it never fails
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}
