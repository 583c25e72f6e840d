package mockserver

import (
	"fmt"
	"slices"
	"time"
)

// EventKind says what happened to a payment.
type EventKind string

// What can happen to a payment.
const (
	// EventCreated: by POST /payments or in the game store.
	EventCreated EventKind = "created"
	// EventPayer: the customer said who will pay, or corrected that.
	EventPayer EventKind = "payer"
	// EventDeposit: a deposit was recognised.
	EventDeposit EventKind = "deposit"
	// EventWebhook: a webhook attempt ended, or was no longer needed.
	EventWebhook EventKind = "webhook"
	// EventResend: a resend was asked for.
	EventResend EventKind = "resend"
	// EventPolled: a poll completed the payment and returned it.
	EventPolled EventKind = "polled"
	// EventConfirmed: a confirmation returned the payment as COMPLETE.
	EventConfirmed EventKind = "confirmed"
	// EventExpired: nobody paid in time.
	EventExpired EventKind = "expired"
	// EventCut takes the place of events that were left out.
	EventCut EventKind = "cut"
)

// Event is one thing that happened to a payment.
type Event struct {
	// At is a time of the server's clock.
	At time.Time
	// Kind says what happened, for programs.
	Kind EventKind
	// Text says it for people, in one line and without tokens. It may hold what
	// customers typed.
	Text string
}

// A timeline keeps the first and the last events: how it began, and the latest state.
const (
	maxEvents   = 200
	firstEvents = maxEvents / 2
)

// record adds to the timeline of the payment.
func (p *payment) record(at time.Time, kind EventKind, text string) {
	if p.history == nil {
		p.history = &history{moments: make([]moment, 0, 4)} // payer, deposit, webhook, completion
	}
	p.history.add(moment{after: at.Sub(p.CreatedAt), kind: kind.code(), text: text})
}

// history is what happened to a payment after its creation, which the payment itself
// shows. It is small, because there may be 100,000 of them.
type history struct {
	moments []moment
	cut     int
}

// moment is an Event in half the memory.
type moment struct {
	after time.Duration // since the creation of the payment
	text  string
	kind  uint8
}

var eventKinds = [...]EventKind{
	EventCreated, EventPayer, EventDeposit, EventWebhook, EventResend, EventPolled, EventConfirmed, EventExpired, EventCut,
}

func (k EventKind) code() uint8 {
	return uint8(slices.Index(eventKinds[:], k)) //nolint:gosec // one of a handful
}

// add leaves room for the creation and for the entry about what is missing.
func (h *history) add(m moment) {
	if len(h.moments) == maxEvents-2 {
		h.moments = slices.Delete(h.moments, firstEvents-1, firstEvents)
		h.cut++
	}
	h.moments = append(h.moments, m)
}

func (p *payment) events() []Event {
	created := Event{At: p.CreatedAt, Kind: EventCreated, Text: "created with POST /payments"}
	if p.GameProduct != "" {
		created.Text = "bought in the game store"
	}
	list := []Event{created}
	if p.history == nil {
		return list
	}
	for _, m := range p.history.moments {
		list = append(list, Event{At: p.CreatedAt.Add(m.after), Kind: eventKinds[m.kind], Text: m.text})
	}
	if cut := p.history.cut; cut > 0 {
		text := fmt.Sprintf("%d events are left out here", cut)
		list = slices.Insert(list, firstEvents, Event{At: list[firstEvents].At, Kind: EventCut, Text: text})
	}
	return list
}
