package inbox

import (
	"fmt"
	"slices"
	"strings"
)

// Stage is how far a payment has come in the ledger. It only moves forward, except by hand. Its
// text, in JSON too, is a word such as "ready".
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
func (s Stage) String() string { return nameOf("stage", stageNames[:], int(s)) }

// MarshalText returns the stage's name.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the stage's name.
func (s *Stage) UnmarshalText(text []byte) error { return numberOf(s, "stage", stageNames[:], text) }

// ConfirmState is what is known of the confirms of an id that a webhook named and that this
// merchant did not create. A confirm may complete the payment, and then the service does not name
// it again: until the response arrives, the hint is all that is known of the money. So the state
// changes before each confirm, in the commit that is needed before it anyway, and MaxHints evicts
// only ids in ConfirmRejected.
type ConfirmState int

// The states of a hint's confirms.
const (
	// ConfirmNone is every payment that is not such a hint.
	ConfirmNone ConfirmState = iota
	// ConfirmNamed: the webhook that named the id may be confirming it.
	ConfirmNamed
	// ConfirmAsked: the inbox may be confirming it.
	ConfirmAsked
	// ConfirmRejected: no confirm is in progress, and the service rejected each one.
	ConfirmRejected
	// ConfirmUnknown: two confirms overlapped, or the outcome of one is unknown. A rejected confirm
	// that began ten minutes after all others ends this state.
	ConfirmUnknown
)

var confirmNames = [...]string{"none", "named", "asked", "rejected", "unknown"}

// String returns the state's name, such as "rejected".
func (s ConfirmState) String() string { return nameOf("confirm", confirmNames[:], int(s)) }

// MarshalText returns the state's name.
func (s ConfirmState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *ConfirmState) UnmarshalText(text []byte) error {
	return numberOf(s, "confirm state", confirmNames[:], text)
}

func nameOf(kind string, names []string, n int) string {
	if n < 0 || n >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, n)
	}
	return names[n]
}

func numberOf[T ~int](to *T, kind string, names []string, text []byte) error {
	n := slices.Index(names, string(text))
	if n < 0 {
		return fmt.Errorf("inbox: %q is no %s; use one of %s", text, kind, strings.Join(names, ", "))
	}
	*to = T(n)
	return nil
}

// Channel is a way by which the inbox heard of a payment. An Entry's Sources are a set of them.
// Its text, in JSON too, is words separated by commas, such as "webhook,poll".
type Channel int

// The channels.
const (
	ChannelWebhook   Channel = 1 << iota // named by a webhook and confirmed
	ChannelPoll                          // returned by a poll
	ChannelReconcile                     // confirmed by the inbox itself
)

// Has reports whether the set c has channel one.
func (c Channel) Has(one Channel) bool { return c&one != 0 }

var channelNames = [...]string{"webhook", "poll", "reconcile"}

// String returns the names of the channels in c, separated by commas.
func (c Channel) String() string {
	var names []string
	for i, name := range channelNames {
		if c.Has(1 << i) {
			names = append(names, name)
		}
	}
	if c < 0 || c >= 1<<len(channelNames) {
		names = append(names, fmt.Sprintf("channel(%d)", int(c)))
	}
	return strings.Join(names, ",")
}

// MarshalText returns the names of the channels.
func (c Channel) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads names of channels; no text is no channel.
func (c *Channel) UnmarshalText(text []byte) error {
	var set Channel
	for name := range strings.SplitSeq(string(text), ",") {
		var n int
		if len(text) == 0 {
			break
		}
		if err := numberOf(&n, "channel", channelNames[:], []byte(name)); err != nil {
			return err
		}
		set |= 1 << n
	}
	*c = set
	return nil
}

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

// Outcome is what became of something that was received, or of an attempt of the handler.
type Outcome string

// The outcomes. A successful attempt leaves no receipt; see Entry.DoneAt and Entry.Attempt.
const (
	OutcomeAccepted Outcome = "accepted" // a verified record, the first or a different one that took its place
	OutcomeRepeat   Outcome = "repeat"   // a verified record that the ledger already had
	OutcomeDiffers  Outcome = "differs"  // a verified record that differs from the ledger's
	OutcomeReview   Outcome = "review"   // moved to review, on arrival or by the check against its order
	OutcomeRaw      Outcome = "raw"      // the response of a poll, before it was decoded
	OutcomeFailed   Outcome = "failed"   // an attempt that will be repeated
	OutcomeSnoozed  Outcome = "snoozed"  // an attempt that does not count: Snooze, or the database rolled it back for another transaction
	OutcomeDead     Outcome = "dead"     // the last attempt
)
