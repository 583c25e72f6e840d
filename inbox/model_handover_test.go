package inbox_test

import (
	"fmt"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

const modelTries = 3 // Config.MaxAttempts

// held is a claim, as it was made.
type held struct {
	id       string
	attempt  int64
	tries    int
	approved bool
	order    *order
	record   record
}

func (l *ledger) claimAll() map[string]held {
	claims := map[string]held{}
	for id, r := range l.rows {
		if r.stage == inbox.StageReady && r.due == now && !r.leased {
			r.leased = true
			r.attempt++
			r.tries++
			claims[id] = held{id, r.attempt, r.tries, r.approved, r.order, *r.record}
		}
	}
	return claims
}

// ending is how a handler ends.
type ending string

const (
	endsWell    ending = "well"
	endsFailing ending = "out of stock"
	endsCancel  ending = "not sold any more"
	endsSnooze  ending = "snoozed"
)

// handle is the fence, the guard, the handler and what becomes of it.
func (l *ledger) handle(c held, how ending) {
	r := l.rows[c.id]
	if r.stage != inbox.StageReady || r.attempt != c.attempt {
		return // somebody else has it, or it is over
	}
	if c.tries > modelTries {
		l.aside(c, inbox.StageDead, inbox.OutcomeDead, fmt.Sprintf("started %d times without an end; it may crash the process", modelTries))
		return
	}
	found := c.order
	if found == nil {
		found = l.find(c)
	}
	if reason := judge(c.record, found); reason != "" && !c.approved {
		l.aside(c, inbox.StageReview, inbox.OutcomeReview, string(reason))
		return
	}
	switch {
	case how == endsWell:
		if found != nil {
			found.payment = c.id
		}
		r.stage, r.reason = inbox.StageDone, ""
		l.effects[c.id]++
	case how == endsCancel, how == endsFailing && c.tries >= modelTries:
		l.aside(c, inbox.StageDead, inbox.OutcomeDead, string(how))
	case how == endsFailing:
		l.later(c, inbox.OutcomeFailed, string(how))
	default:
		r.tries--
		l.later(c, inbox.OutcomeSnoozed, string(how))
	}
}

// find is the order of a payment that was not registered when its record came: its own,
// or the one that is open for its identifier.
func (l *ledger) find(c held) *order {
	var open []*order
	for _, o := range l.orders {
		if o.payment == c.id {
			return o
		}
		if o.payment == "" && o.identifier == c.record.identifier && o.identifier != "" {
			open = append(open, o)
		}
	}
	if len(open) == 1 {
		return open[0]
	}
	return nil
}

func judge(rec record, o *order) inbox.Reason {
	paid, _ := payments.ParseAmount(rec.amount)
	switch {
	case paid.Sign() <= 0:
		return inbox.ReasonNoMoney
	case o == nil:
		return inbox.ReasonUnknownOrder
	case o.identifier != rec.identifier:
		return inbox.ReasonIdentifier
	}
	price, _ := payments.ParseAmount(o.amount)
	switch {
	case price.IsZero() || paid == price:
		return ""
	case paid.Cmp(price) < 0:
		return inbox.ReasonUnderpaid
	}
	return inbox.ReasonOverpaid
}

func (l *ledger) later(c held, outcome inbox.Outcome, text string) {
	r := l.rows[c.id]
	r.leased, r.due, r.reason = false, soon, text
	l.keepRun(c, outcome, text)
}

func (l *ledger) keepRun(c held, outcome inbox.Outcome, text string) {
	l.receipts[c.id] = append(l.receipts[c.id], receipt{outcome: outcome, attempt: c.attempt, text: text})
}

// aside sets a payment aside. In review it gets the latest record, if another one came
// while it waited.
func (l *ledger) aside(c held, stage inbox.Stage, outcome inbox.Outcome, reason string) {
	r := l.rows[c.id]
	r.stage, r.leased, r.reason = stage, false, reason
	l.keepRun(c, outcome, reason)
	if stage != inbox.StageReview {
		return
	}
	var latest *receipt
	for i, other := range l.receipts[c.id] {
		if other.outcome == inbox.OutcomeDiffers {
			latest = &l.receipts[c.id][i]
		}
	}
	if latest == nil || latest.dropped || *latest.record == *r.record {
		return
	}
	rec, channel := *latest.record, latest.channel
	l.keepFirst(c.id)
	r.raise(rec, channel)
}
