package mockserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// maxDashStrikes is how many entries of the fault log each operation shows.
const maxDashStrikes = 50

// dashFaults is what makes trouble, and what that did.
func (s *Server) dashFaults(c *dashCall) (any, *Error) {
	s.watchRequests()
	set := s.Faults()
	view := web.DashFaults{Operations: dashOperations(c), Kinds: dashKinds(c), Chance: set.chance()}
	for _, f := range set.Rules[:min(len(set.Rules), 4*dashPageSize)] {
		view.Rules = append(view.Rules, web.DashFault{Operation: f.Operation, Calls: f.calls(), What: f.String(), Words: f.words()})
	}
	view.More = int64(len(set.Rules) - len(view.Rules))
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	for _, op := range faultOperations {
		log := s.faults.log[op]
		view.Logged += len(log)
		for i := len(log) - 1; i >= max(0, len(log)-maxDashStrikes); i-- {
			view.Log = append(view.Log, web.DashStrike(log[i]))
		}
	}
	return view, nil
}

// calls says which calls a rule means, as its fields are called on the control API.
func (f *Fault) calls() string {
	switch {
	case f.Nth > 0:
		return fmt.Sprintf("nth=%d", f.Nth)
	case f.Every > 0:
		return fmt.Sprintf("every=%d", f.Every)
	case f.First > 0:
		return fmt.Sprintf("first=%d", f.First)
	case f.Probability > 0:
		return fmt.Sprintf("probability=%g seed=%d", f.Probability, f.Seed)
	}
	return ""
}

// chance says what comes by chance, "" when nothing does.
func (f *Faults) chance() string {
	if f.Rate == 0 {
		return ""
	}
	text := fmt.Sprintf("rate=%g seed=%d", f.Rate, f.Seed)
	if len(f.Operations) > 0 {
		text += " operations=" + strings.Join(f.Operations, ",")
	}
	if len(f.Kinds) > 0 {
		text += " kinds=" + strings.Join(f.Kinds, ",")
	}
	if f.MaxDelay > 0 {
		text += " max_delay=" + f.MaxDelay.String()
	}
	return text
}

// doFault adds a rule.
func (s *Server) doFault(c *dashCall) (dashDone, *Error) {
	f := Fault{Operation: c.value("operation"), Kind: c.value("kind")}
	problem := c.chooseCalls(&f)
	for _, field := range []struct {
		name  string
		value *int
	}{{"bytes", &f.Bytes}, {"status", &f.Status}, {"retry_after", &f.RetryAfter}} {
		if problem == nil {
			*field.value, problem = c.count(field.name)
		}
	}
	if text := strings.ReplaceAll(c.value("delay"), " ", ""); problem == nil && text != "" {
		var err error
		if f.Delay, err = time.ParseDuration(text); err != nil {
			problem = invalidParameter("delay", `must be a length of time, as in "200ms" or "5s"`)
		}
	}
	if problem == nil {
		problem = s.faults.add(f)
		s.tellChange()
	}
	return dashDone{said: "fault"}, problem
}

// chooseCalls reads which calls a rule means: a way to choose and its number.
func (c *dashCall) chooseCalls(f *Fault) (problem *Error) {
	switch which := c.value("calls"); which {
	case "":
	case "nth", "every", "first":
		field := map[string]*int{"nth": &f.Nth, "every": &f.Every, "first": &f.First}[which]
		if *field, problem = c.count("number"); problem == nil && *field < 1 {
			problem = invalidParameter("number", "must be at least 1")
		}
	case "probability":
		var err error
		f.Probability, err = strconv.ParseFloat(c.value("number"), 64)
		if err != nil || !(f.Probability > 0 && f.Probability <= 1) {
			problem = invalidParameter("number", `must be above 0 and at most 1, as in "0.25"`)
		}
	default:
		problem = invalidParameter("calls", "must be empty, nth, every, first or probability")
	}
	return problem
}

func (s *Server) doFaultsClear(*dashCall) (dashDone, *Error) {
	s.ClearFaults()
	s.tellChange()
	return dashDone{said: "faults-cleared"}, nil
}
