package inbox

import "fmt"

// Stage is where a payment stands in the ledger. It only moves forward, except by hand.
type Stage int

// The stages, in order.
const (
	// StageExpected is a payment that this merchant created and nobody has paid yet.
	StageExpected Stage = iota
	// StageHint is an id that a webhook named and that is not confirmed yet.
	StageHint
	// StageReady is a payment whose record is held; its handler is to run.
	StageReady
	// StageDone is a payment whose handler has succeeded.
	StageDone
	// StageReview is a payment that must not be granted without a look; Entry.Reason
	// says why. See Inbox.Approve and Inbox.Reject.
	StageReview
	// StageDead is a payment whose handler gave up, or that was rejected by hand. See
	// Inbox.Retry.
	StageDead
)

var stageNames = [...]string{"expected", "hint", "ready", "done", "review", "dead"}

// String returns the stage's name, such as "ready".
func (s Stage) String() string {
	if s < 0 || int(s) >= len(stageNames) {
		return fmt.Sprintf("stage(%d)", int(s))
	}
	return stageNames[s]
}

// Channel is a way by which the inbox heard of a payment. An Entry's Sources are a
// set of them.
type Channel int

// The channels.
const (
	ChannelWebhook   Channel = 1 << iota // named by a webhook and confirmed
	ChannelPoll                          // returned by a poll
	ChannelReconcile                     // confirmed by the inbox itself
)

// Has reports whether the set c has channel one.
func (c Channel) Has(one Channel) bool { return c&one != 0 }

// Reason says why a payment is in review.
type Reason string

// The reasons.
const (
	ReasonNoID         Reason = "no_id"               // the record names no payment
	ReasonUnreadable   Reason = "unreadable"          // what a poll returned cannot be read; the bytes are kept
	ReasonUnstorable   Reason = "unstorable"          // the ledger refused it; the record is what was to be written
	ReasonNoMoney      Reason = "no_money"            // the amount is not above 0
	ReasonUnderpaid    Reason = "underpaid"           // less than the order's amount
	ReasonOverpaid     Reason = "overpaid"            // more than the order's amount
	ReasonUnknownOrder Reason = "unknown_order"       // no order of this id, nor an open one of this identifier
	ReasonTooOld       Reason = "too_old"             // no order, and verified before Config.NotBefore
	ReasonIdentifier   Reason = "identifier_mismatch" // the order of this id has another identifier
	ReasonItems        Reason = "items_mismatch"      // the order of this id has other items
	ReasonProduct      Reason = "unknown_product"     // the product is not in the catalogue
	ReasonPrice        Reason = "price_mismatch"      // the amount is not the product's price
)
