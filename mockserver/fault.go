package mockserver

import (
	"fmt"
	"slices"
	"time"
)

// Fault is a rule that makes trouble: which calls of one operation, and what happens
// to them. Of the rules that fit a call the first one counts.
//
// Kinds for the calls of the API; "before" means that the service does nothing, in
// all others it has done what was asked, and the client is badly told:
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
	// Bytes is what is left of a cut body; a body is never left whole.
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
