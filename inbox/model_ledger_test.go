package inbox_test

import (
	"slices"

	"github.com/depositpay/depositpay-go/inbox"
)

// ledger is the model of an inbox: what its documentation promises, in memory and one
// thing after the other.
type ledger struct {
	rows     map[string]*row
	orders   []*order
	receipts map[string][]receipt
	effects  map[string]int
	births   int
}

// order is what was registered; of no payment while it is open.
type order struct{ payment, identifier, amount string }

type record struct{ identifier, amount string }

// when is when a row is due.
type when int

const (
	now when = iota
	soon
	never
)

// row is a payment. Its registration is in order, that of a payment whose record came
// first only in the ledger's orders.
type row struct {
	stage          inbox.Stage
	own, approved  bool
	order          *order
	record         *record // nil: none, or dropped
	dropped        bool
	sources        inbox.Channel
	reason         string
	confirm        inbox.ConfirmState
	attempt        int64
	tries, seen    int
	due            when
	leased         bool
	firstIsReceipt bool // the first record stands among the receipts
	born           int  // of a hint: which one it was
	over           bool // all its confirms were long ago
}

// receipt is a line of Inbox.Receipts.
type receipt struct {
	channel inbox.Channel
	outcome inbox.Outcome
	attempt int64
	record  *record
	text    string
	dropped bool
}

func newLedger() *ledger {
	return &ledger{rows: map[string]*row{}, receipts: map[string][]receipt{}, effects: map[string]int{}}
}

func (l *ledger) accept(id string, rec record, channel inbox.Channel) {
	r := l.rows[id]
	if r == nil {
		r = &row{seen: 0}
		l.rows[id] = r
	}
	same := r.dropped || r.record != nil && *r.record == rec
	switch {
	case r.stage < inbox.StageReady:
		r.raise(rec, channel)
	case same:
		l.keep(id, channel, inbox.OutcomeRepeat, rec)
	case r.stage != inbox.StageReview:
		l.keep(id, channel, inbox.OutcomeDiffers, rec)
	default:
		l.keepFirst(id)
		r.raise(rec, channel)
		l.keep(id, channel, inbox.OutcomeAccepted, rec)
	}
}

func (r *row) raise(rec record, channel inbox.Channel) {
	r.stage, r.record, r.sources = inbox.StageReady, &rec, r.sources|channel
	r.due, r.tries, r.reason, r.confirm, r.seen = now, 0, "", inbox.ConfirmNone, r.seen+1
}

func (l *ledger) keep(id string, channel inbox.Channel, outcome inbox.Outcome, rec record) {
	l.receipts[id] = append(l.receipts[id], receipt{channel: channel, outcome: outcome, attempt: l.rows[id].attempt, record: &rec})
}

// keepFirst writes the first record down before another one takes its place.
func (l *ledger) keepFirst(id string) {
	r := l.rows[id]
	if !r.firstIsReceipt {
		r.firstIsReceipt = true
		l.keep(id, r.sources, inbox.OutcomeAccepted, *r.record)
	}
}

// note reports whether it is noted: a new id is not if too many are in doubt.
func (l *ledger) note(id string) bool {
	if r := l.rows[id]; r == nil {
		if len(l.hints(false)) >= modelHints {
			return false
		}
		l.births++
		l.rows[id] = &row{stage: inbox.StageHint, confirm: inbox.ConfirmNamed, due: soon, seen: 1, born: l.births}
	} else if r.stage < inbox.StageReady {
		r.due = min(r.due, soon)
		r.confirmBegins(inbox.ConfirmNamed)
	}
	return true
}

// confirmBegins moves a hint on to a state, unless an earlier confirm may still be under way.
func (r *row) confirmBegins(alone inbox.ConfirmState) {
	switch {
	case r.own:
	case r.confirm == inbox.ConfirmRejected || r.over:
		r.confirm = alone
	default:
		r.confirm = inbox.ConfirmUnknown
	}
	r.over = false
}

// open registers an order without a payment.
func (l *ledger) open(o order) *order {
	l.orders = append(l.orders, &o)
	return &o
}

func (l *ledger) cancel(o *order) {
	l.orders = slices.DeleteFunc(l.orders, func(other *order) bool { return other == o })
}

// bind gives the order its payment. The first registration of a payment counts, and
// another one leaves nothing.
func (l *ledger) bind(o *order, id string) {
	if slices.ContainsFunc(l.orders, func(other *order) bool { return other.payment == id }) {
		l.cancel(o)
	} else {
		o.payment = id
	}
	r := l.rows[id]
	switch {
	case r == nil:
		l.rows[id] = &row{stage: inbox.StageExpected, own: true, order: o, due: never, seen: 1}
	case r.stage < inbox.StageReady && !r.own:
		r.own, r.order, r.confirm = true, o, inbox.ConfirmNone
	case r.stage == inbox.StageReview && r.reason == string(inbox.ReasonUnknownOrder):
		r.stage, r.due, r.tries, r.reason = inbox.StageReady, now, 0, ""
	}
}

// reply is what the service says to a confirm.
type reply int

const (
	replyPaid reply = iota
	replyUnpaid
	replyLost
)

func (l *ledger) ask(id string, r reply, rec record) {
	row := l.rows[id]
	switch {
	case r == replyPaid:
		l.accept(id, rec, inbox.ChannelReconcile)
	case r == replyUnpaid && row.stage == inbox.StageExpected:
		row.due = never
	default:
		row.due = soon
	}
	switch {
	case row.own || r == replyPaid:
	case r == replyLost:
		row.confirm, row.over = inbox.ConfirmUnknown, false
	case row.confirm == inbox.ConfirmAsked:
		row.confirm = inbox.ConfirmRejected
	}
}

// reconcile asks for all that the merchant created, and brings the rest forward.
func (l *ledger) reconcile(r reply, rec func(id string) record) {
	for id, row := range l.rows {
		if row.stage < inbox.StageReady && row.own {
			l.ask(id, r, rec(id))
		} else if row.stage < inbox.StageReady {
			row.due = now
		}
	}
}

// confirmDue asks for what is due, after it has given up what is too much.
func (l *ledger) confirmDue(r reply, rec func(id string) record) {
	l.evict()
	for id, row := range l.rows {
		if row.stage < inbox.StageReady && row.due == now {
			row.attempt++
			row.tries++
			row.confirmBegins(inbox.ConfirmAsked)
			l.ask(id, r, rec(id))
		}
	}
}

const modelHints = 2 // Config.MaxHints

// hints are those that the service has rejected, or the others, the oldest first.
func (l *ledger) hints(rejected bool) (ids []string) {
	for id, r := range l.rows {
		if r.stage == inbox.StageHint && !r.own && (r.confirm == inbox.ConfirmRejected) == rejected {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return l.rows[a].born - l.rows[b].born })
	return ids
}

// evict gives up what is too much, the oldest first, and none that is in doubt.
func (l *ledger) evict() {
	rejected := l.hints(true)
	tooMany := max(0, len(rejected)+len(l.hints(false))-modelHints)
	for _, id := range rejected[:min(len(rejected), tooMany)] {
		delete(l.rows, id)
	}
}

// pass lets leases end and, if it is long enough, all waits.
func (l *ledger) pass(long bool) {
	for _, r := range l.rows {
		r.leased = false
		if long && r.due == soon {
			r.due = now
		}
	}
}

// drop is retention.
func (l *ledger) drop() {
	for id, r := range l.rows {
		if r.stage == inbox.StageDone {
			r.record, r.dropped = nil, true
		}
		r.over = r.stage < inbox.StageReady // time passes
		for i := range l.receipts[id] {
			l.receipts[id][i].dropped = true
		}
	}
}

func (l *ledger) decide(id string, from, to inbox.Stage) (possible bool) {
	r := l.rows[id]
	if r == nil || r.stage != from {
		return false
	}
	r.stage = to
	switch {
	case to == inbox.StageDead:
		r.reason = "rejected: " + r.reason
		return true
	case from == inbox.StageReview:
		r.approved = true
	}
	r.due, r.tries = now, 0
	return true
}
