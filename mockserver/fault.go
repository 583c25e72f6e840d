package mockserver

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fault is a rule that injects a fault: which calls of one operation, and what happens
// to them. The first rule that fits a call counts.
//
// Kinds for the calls of the API; "before" means that the service does nothing; in
// all others it has done its work, and the client gets a damaged response:
//
//	drop-before   the connection is closed without an answer
//	drop-after    the same, after the commit
//	reset-before  the connection is reset (TCP RST)
//	reset-after   the same, after the commit
//	delay-before  Delay passes before the service does anything
//	delay-after   Delay passes between the commit and the answer
//	status-before HTTP status Status, with an error FAULT_INJECTED and, if RetryAfter is set, that header
//	status-after  the same, after the commit
//	cut           the body of the answer ends after Bytes bytes, and the connection with it
//	drip          the body comes byte by byte, over Delay in all
//	malformed     the first half of the answer, as if it were all of it
//	html          HTTP 200 with an HTML page
//	content-type  the answer, as text/plain
//
// Kinds for webhook, where each attempt is one call:
//
//	duplicate     it arrives twice: at once, or the second time after Delay
//	delay         it arrives after Delay, even if it has timed out or the payment is COMPLETE by then
//	reorder       it is held until the next attempt, of any payment, has ended; at most for Delay (default 5s)
//	dead-uri      it is sent to a loopback port where nobody listens
//	drop-after    it arrives, and the receiver's answer is lost
//
// The delays of answers are real time, which [Server.Close] cuts short: a client's
// timeout is real as well. The delays of webhooks are of the mock's clock. A client
// that leaves during delay-before does not stop the service: it commits, as a slow
// service would.
//
// On the control API the fields are called operation, kind, nth, every, first,
// probability, seed, delay, bytes, status and retry_after, as in
// {"operation":"next","kind":"cut","nth":2,"bytes":17} and
// {"operation":"webhook","kind":"delay","every":3,"delay":"90s"}.
type Fault struct {
	// Operation is create, next, confirm, status, resend, banks, deposit or webhook.
	Operation string
	// Kind is what happens, from the tables above.
	Kind string

	// Nth, Every and First choose the n-th call, every n-th call, or the first k calls
	// of the operation, counted from 1 from the moment when the rule is added.
	// Probability (above 0, up to 1) chooses calls by Seed and their number alone. At
	// most one of the four is set; none chooses every call.
	Nth, Every, First int
	Probability       float64
	Seed              uint64

	// Delay is for the kinds that have one, at most 4 minutes, for webhooks 24 hours.
	Delay time.Duration
	// Bytes is how much is left of a cut body; a body is never left whole.
	Bytes int
	// Status is 400 to 599. RetryAfter is in seconds.
	Status, RetryAfter int
}

// The operations, in the order of the fault log.
const (
	opCreate  = "create"
	opNext    = "next"
	opConfirm = "confirm"
	opStatus  = "status"
	opResend  = "resend"
	opBanks   = "banks"
	opDeposit = "deposit"
	opWebhook = "webhook"
)

var faultOperations = []string{opCreate, opNext, opConfirm, opStatus, opResend, opBanks, opDeposit, opWebhook}

const (
	faultDropBefore   = "drop-before"
	faultDropAfter    = "drop-after"
	faultResetBefore  = "reset-before"
	faultResetAfter   = "reset-after"
	faultDelayBefore  = "delay-before"
	faultDelayAfter   = "delay-after"
	faultStatusBefore = "status-before"
	faultStatusAfter  = "status-after"
	faultCut          = "cut"
	faultDrip         = "drip"
	faultMalformed    = "malformed"
	faultHTML         = "html"
	faultContentType  = "content-type"

	faultDuplicate = "duplicate"
	faultDelay     = "delay"
	faultReorder   = "reorder"
	faultDeadURI   = "dead-uri"
)

var (
	answerFaults = []string{
		faultDropBefore, faultDropAfter, faultResetBefore, faultResetAfter, faultDelayBefore, faultDelayAfter,
		faultStatusBefore, faultStatusAfter, faultCut, faultDrip, faultMalformed, faultHTML, faultContentType,
	}
	webhookFaults = []string{faultDuplicate, faultDelay, faultReorder, faultDeadURI, faultDropAfter}
)

const (
	maxAnswerDelay  = 4 * time.Minute // the server gives up writing after 5
	maxWebhookDelay = 24 * time.Hour
)

// FaultOperations returns the operations that a [Fault] may name.
func FaultOperations() []string { return slices.Clone(faultOperations) }

// FaultKinds returns the kinds that a [Fault] of the operation may have, nil for an
// operation that does not exist.
func FaultKinds(operation string) []string {
	switch {
	case operation == opWebhook:
		return slices.Clone(webhookFaults)
	case slices.Contains(faultOperations, operation):
		return slices.Clone(answerFaults)
	}
	return nil
}

func (f *Fault) needsDelay() bool {
	switch f.Kind {
	case faultDelayBefore, faultDelayAfter, faultDrip, faultDelay:
		return true
	}
	return false
}

func (f *Fault) answersStatus() bool {
	return f.Kind == faultStatusBefore || f.Kind == faultStatusAfter
}

// String is the kind with its parameters, as in "cut bytes=17".
func (f Fault) String() string {
	text := f.Kind
	if f.Delay != 0 {
		text += " delay=" + f.Delay.String()
	}
	if f.Kind == faultCut {
		text += fmt.Sprintf(" bytes=%d", f.Bytes)
	}
	if f.answersStatus() {
		text += fmt.Sprintf(" status=%d", f.Status)
	}
	if f.RetryAfter != 0 {
		text += fmt.Sprintf(" retry_after=%d", f.RetryAfter)
	}
	return text
}

// check names the wrong field and its allowed values.
func (f *Fault) check() *Error {
	kinds := FaultKinds(f.Operation)
	switch {
	case kinds == nil:
		return invalidParameter("operation", fmt.Sprintf("%.40q is unknown; use one of %s", f.Operation,
			strings.Join(faultOperations, ", ")))
	case !slices.Contains(kinds, f.Kind):
		return invalidParameter("kind", fmt.Sprintf("%.40q is unknown for the operation %s; use one of %s", f.Kind,
			f.Operation, strings.Join(kinds, ", ")))
	}
	if problem := f.checkChoice(); problem != nil {
		return problem
	}
	return f.checkParameters()
}

// checkChoice checks which calls the rule chooses.
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

// checkParameters refuses a parameter that the kind does not use: the author meant
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

// check names the wrong field and its allowed values.
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
