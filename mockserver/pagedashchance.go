package mockserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashOperations are the operations with what they are, to choose from.
func dashOperations(c *dashCall) []web.Option {
	list := make([]web.Option, len(faultOperations))
	for i, op := range faultOperations {
		list[i] = web.Option{Value: op, Label: op + " · " + c.t("dash.op."+op)}
	}
	return list
}

// dashKinds are the kinds of faults with what they do.
func dashKinds(c *dashCall) []web.Option {
	var list []web.Option
	for _, kind := range slices.Concat(answerFaults, webhookFaults[:len(webhookFaults)-1]) { // drop-after is in both
		list = append(list, web.Option{Value: kind, Label: kind + " · " + c.t("dash.kind."+kind)})
	}
	return list
}

// doChance sets what comes by chance: of one operation and kind, or of all.
func (s *Server) doChance(c *dashCall) (dashDone, *Error) {
	var f Faults
	var err error
	if f.Rate, err = strconv.ParseFloat(c.value("rate"), 64); err != nil || !(f.Rate > 0 && f.Rate <= 1) {
		return dashDone{}, invalidParameter("rate", `must be above 0 and at most 1, as in "0.25"`)
	}
	if text := c.value("seed"); text != "" {
		if f.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return dashDone{}, invalidParameter("seed", "must be a whole number, as in 10000")
		}
	}
	if text := strings.ReplaceAll(c.value("max_delay"), " ", ""); text != "" {
		if f.MaxDelay, err = time.ParseDuration(text); err != nil {
			return dashDone{}, invalidParameter("max_delay", `must be a length of time, as in "200ms" or "5s"`)
		}
	}
	if op := c.value("operations"); op != "" {
		f.Operations = []string{op}
	}
	if kind := c.value("kinds"); kind != "" {
		f.Kinds = []string{kind}
		if op := c.value("operations"); op != "" && !slices.Contains(FaultKinds(op), kind) {
			return dashDone{}, invalidParameter("kinds", fmt.Sprintf("%.40q is unknown for the operation %.40s; choose another one", kind, op))
		}
	}
	if problem := s.faults.setChance(f); problem != nil {
		return dashDone{}, problem
	}
	s.tellChange()
	return dashDone{said: "chance"}, nil
}

// doChanceEnd ends what comes by chance; the rules stay.
func (s *Server) doChanceEnd(*dashCall) (dashDone, *Error) {
	problem := s.faults.setChance(Faults{})
	s.tellChange()
	return dashDone{said: "chance-ended"}, problem
}

// doFaultRemove takes one rule away. The form says what the rule was, because another
// page may have changed the list meanwhile.
func (s *Server) doFaultRemove(c *dashCall) (dashDone, *Error) {
	place, _, problem := c.whole("target")
	if problem == nil && !s.faults.drop(int(place), c.value("rule")) {
		problem = &Error{Code: CodeNotFound, Message: "there is no such fault rule any more; look at the list"}
	}
	s.tellChange()
	return dashDone{said: "fault-removed"}, problem
}

// drop removes the rule at a place, if it still is the one that words say. What the other
// rules have counted, and the log, stay.
func (p *faults) drop(place int, words string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if place < 0 || place >= len(p.plan.Rules) || p.plan.Rules[place].words() != words {
		return false
	}
	p.plan.Rules = slices.Delete(slices.Clone(p.plan.Rules), place, place+1)
	p.since = slices.Delete(p.since, place, place+1)
	p.on.Store(len(p.plan.Rules) > 0 || p.plan.Rate > 0)
	return true
}

// words is all of a rule in one line.
func (f *Fault) words() string {
	return strings.Join(strings.Fields(f.Operation+" "+f.calls()+" "+f.String()), " ")
}
