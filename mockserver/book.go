package mockserver

import (
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/mockserver/internal/redact"
	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

// maxStoredBytes bounds the texts of all payments together.
const maxStoredBytes = 256 << 20

// book holds the payments of all applications. It is guarded by Server.mu.
type book struct {
	cfg      *Config
	clock    *clock
	timers   *timers
	changes  *changes
	tokens   *redact.Tokens
	webhooks notifier

	byID   map[string]*payment
	list   []*payment // in the order of creation; it only ever grows
	bytes  int        // of all texts
	payers payers

	expired int             // the place in list of the first payment that may still expire
	expiry  *schedule.Timer // the expiry of that payment
}

// notifier sends webhooks: the sender, which uses the book itself.
type notifier interface {
	makeRoom() *Error
	notify(p *payment)
}

// insert adds a new payment.
func (b *book) insert(p *payment, app *application) *Error {
	size := p.size()
	if len(b.list) >= b.cfg.MaxPayments || b.bytes+size > maxStoredBytes {
		return b.full()
	}
	p.app, p.Status, p.CreatedAt = app, StatusCreated, b.clock.now()
	b.bytes += size
	b.byID[p.ID] = p
	b.list = append(b.list, p)
	b.planExpiry()
	b.changes.note()
	return nil
}

func (b *book) full() *Error {
	return storageFull("the mock keeps at most %d payments and %d MiB of their texts, and drops none; "+
		"start a new one or raise Config.MaxPayments", b.cfg.MaxPayments, maxStoredBytes>>20)
}

// find returns a payment of any application, in the status that it has now.
func (b *book) find(id string) (*payment, *Error) {
	b.expire()
	if p := b.byID[id]; p != nil {
		return p, nil
	}
	return nil, paymentNotFound()
}

// findOf returns a payment of one application.
func (b *book) findOf(app *application, id string) (*payment, *Error) {
	p, problem := b.find(id)
	if problem == nil && p.app != app {
		return nil, paymentNotFound()
	}
	return p, problem
}

func paymentNotFound() *Error {
	return &Error{Code: CodePaymentNotFound, Message: "no payment has this payToken; " +
		"send the payToken of POST /payments or the payment_id of the webhook"}
}

// record adds to the timeline of a payment.
func (b *book) record(p *payment, kind EventKind, text string) {
	p.record(b.clock.now(), kind, text)
	b.changes.note()
}

// expire moves the payments that nobody paid in time to EXPIRED. Everything that reads
// the status of a payment calls it first, so a status is right to the
// nanosecond. All payments live equally long and are in the order of creation, so
// those that are due come first: the work is one comparison, and one step for each
// payment in all.
func (b *book) expire() {
	if b.cfg.Lifetime == 0 {
		return
	}
	now := b.clock.now()
	for ; b.expired < len(b.list); b.expired++ {
		p := b.list[b.expired]
		if !p.unpaid() {
			continue
		}
		at := p.CreatedAt.Add(b.cfg.Lifetime)
		if now.Before(at) {
			break
		}
		p.Status = StatusExpired
		p.record(at, EventExpired, "nobody paid in time")
		b.changes.note()
	}
	b.planExpiry()
}

// planExpiry sets one timer for the next expiry, so that a clock that is moved stops
// there, and pages hear of it.
func (b *book) planExpiry() {
	if b.cfg.Lifetime == 0 {
		return
	}
	if b.expired == len(b.list) {
		if b.expiry.Planned() {
			b.timers.Remove(b.expiry)
			b.timers.arm()
		}
		return
	}
	at := b.list[b.expired].CreatedAt.Add(b.cfg.Lifetime)
	if b.expiry.Planned() && b.expiry.At.Equal(at) {
		return
	}
	b.timers.Remove(b.expiry)
	b.expiry = b.timers.Push(at, b.expire)
	b.timers.arm()
}

// onlyExpiryPlanned reports whether no webhook attempt, and no timeout of one, is
// among the timers.
func (b *book) onlyExpiryPlanned() bool {
	return b.timers.Len() == 0 || b.timers.Len() == 1 && b.expiry.Planned()
}

// poll returns the payment of an application that has waited in PROGRESS for the longest
// time, now COMPLETE; nil when none waits.
func (b *book) poll(app *application) *payment {
	p := app.pop()
	if p == nil {
		return nil
	}
	p.Status = StatusComplete
	b.handOut(p, EventPolled, "completed by GET /callback/rest")
	return p
}

// confirm hands out a paid payment, whose record the application gets as COMPLETE.
func (b *book) confirm(p *payment) *Error {
	switch {
	case p.Status != StatusProgress && p.Status != StatusComplete:
		return notPaid(p, "confirm it after its webhook has come")
	case !p.VerifiedAt.IsZero():
		b.record(p, EventConfirmed, "returned again by POST /payments/confirm")
	default:
		b.handOut(p, EventConfirmed, "returned as COMPLETE by POST /payments/confirm")
	}
	if !b.cfg.ConfirmKeepsState {
		p.Status = StatusComplete
	}
	return nil
}

// handOut counts that the record of a payment is returned as newly completed. The
// time of the first verification stays, so the record is the same wherever it
// comes from.
func (b *book) handOut(p *payment, kind EventKind, text string) {
	now := b.clock.now()
	p.Completions++
	if p.VerifiedAt.IsZero() {
		p.VerifiedAt = now
	}
	p.record(now, kind, text)
	b.changes.note()
}

func notPaid(p *payment, advice string) *Error {
	message := "nobody has paid this payment yet; " + advice
	if p.Status == StatusExpired {
		message = "nobody has paid this payment, and it has expired; create another one"
		if p.app.cfg.LateDeposit {
			message += ", or " + advice
		}
	}
	return &Error{Code: CodePaymentNotPaid, Message: message}
}

// shownPayer is the payer for a text that is cut after maxNameLength characters. It has
// no tokens: half of one at the cut would not be recognized later.
func (b *book) shownPayer(p *payment) string {
	if len(p.Payer) <= maxNameLength {
		return p.Payer
	}
	return b.tokens.First(p.Payer, maxNameLength*utf8.UTFMax)
}
