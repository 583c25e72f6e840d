package mockserver

import (
	"fmt"
	"slices"
	"strings"
)

// check names the field that is wrong and what it may be.
func (f *Fault) check() *Error {
	kinds := FaultKinds(f.Operation)
	switch {
	case kinds == nil:
		return invalidParameter("operation", fmt.Sprintf("%.40q is unknown; use one of %s", f.Operation, strings.Join(faultOperations, ", ")))
	case !slices.Contains(kinds, f.Kind):
		return invalidParameter("kind", fmt.Sprintf("%.40q is unknown for the operation %s; use one of %s", f.Kind, f.Operation, strings.Join(kinds, ", ")))
	}
	if problem := f.checkChoice(); problem != nil {
		return problem
	}
	return f.checkParameters()
}

// checkChoice checks which calls are meant.
func (f *Fault) checkChoice() *Error {
	chosen := 0
	for i, n := range []int{f.Nth, f.Every, f.First} {
		if n < 0 {
			return invalidParameter([]string{"nth", "every", "first"}[i], "must be at least 1; leave it out for every call")
		}
		chosen += min(n, 1)
	}
	if !(f.Probability >= 0 && f.Probability <= 1) {
		return invalidParameter("probability", "must be above 0 and at most 1")
	}
	if f.Probability > 0 {
		chosen++
	}
	switch {
	case chosen > 1:
		return invalidParameter("nth", "and every, first, probability exclude each other; give one of them")
	case f.Seed != 0 && f.Probability == 0:
		return invalidParameter("seed", "has no use without a probability")
	}
	return nil
}

// checkParameters refuses a parameter that the kind has no use for: its writer meant
// something else.
func (f *Fault) checkParameters() *Error {
	longest := maxAnswerDelay
	if f.Operation == opWebhook {
		longest = maxWebhookDelay
	}
	switch {
	case f.Delay < 0 || f.Delay > longest:
		return invalidParameter("delay", fmt.Sprintf("must be up to %v", longest))
	case f.needsDelay() && f.Delay == 0:
		return invalidParameter("delay", "is required by "+f.Kind+`: give a length of time, as in "200ms"`)
	case f.Delay != 0 && !f.needsDelay() && f.Kind != faultDuplicate && f.Kind != faultReorder:
		return invalidParameter("delay", "has no use for "+f.Kind)
	case f.Bytes < 0 || f.Bytes != 0 && f.Kind != faultCut:
		return invalidParameter("bytes", "must be 0 or more, and is for cut alone")
	case f.answersStatus() && (f.Status < 400 || f.Status > 599):
		return invalidParameter("status", "must be an HTTP status from 400 to 599")
	case !f.answersStatus() && f.Status != 0:
		return invalidParameter("status", "has no use for "+f.Kind)
	case f.RetryAfter < 0 || f.RetryAfter != 0 && !f.answersStatus():
		return invalidParameter("retry_after", "must be 0 or more seconds, and is for status-before and status-after alone")
	}
	return nil
}

// check names the field that is wrong and what it may be.
func (f *Faults) check() *Error {
	if len(f.Rules) > maxFaultRules {
		return invalidParameter("rules", fmt.Sprintf("are more than %d", maxFaultRules))
	}
	for i := range f.Rules {
		if problem := f.Rules[i].check(); problem != nil {
			return &Error{Code: problem.Code, Message: fmt.Sprintf("rules[%d]: %s", i, problem.Message)}
		}
	}
	if !(f.Rate >= 0 && f.Rate <= 1) {
		return invalidParameter("rate", "must be from 0 to 1")
	}
	if f.MaxDelay < 0 || f.MaxDelay > maxAnswerDelay {
		return invalidParameter("max_delay", fmt.Sprintf("must be up to %v", maxAnswerDelay))
	}
	for _, op := range f.Operations {
		if !slices.Contains(faultOperations, op) {
			return invalidParameter("operations", fmt.Sprintf("%.40q is unknown; use %s", op, strings.Join(faultOperations, ", ")))
		}
	}
	for _, kind := range f.Kinds {
		if !slices.Contains(answerFaults, kind) && !slices.Contains(webhookFaults, kind) {
			return invalidParameter("kinds", fmt.Sprintf("%.40q is unknown; use %s, for webhook %s", kind,
				strings.Join(answerFaults, ", "), strings.Join(webhookFaults, ", ")))
		}
	}
	return nil
}
