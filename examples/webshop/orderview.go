package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// deposit is money that has come, and what became of it.
type deposit struct {
	Payment, OrderID, Method, Outcome, ReturnedBy string
	RefusedBy, Why                                string // if a person decided that it goes back
	Contact                                       string // of who placed the order
	Amount, GiveBack                              int64
	VerifiedAt, ReturnedAt                        time.Time
}

// Owed reports whether some of it is still to be given back.
func (d deposit) Owed() bool { return d.GiveBack > 0 && d.ReturnedAt.IsZero() }

// HasOrder reports whether it came for an order, and not for what else a record may name.
func (d deposit) HasOrder() bool { return isUUID(d.OrderID) }

// MethodKey is the key of the text that names the way of paying. The set of methods is open.
func (d deposit) MethodKey() string {
	if _, ok := texts["method."+d.Method]; ok {
		return "method." + d.Method
	}
	return "method.other"
}

const selectDeposit = `SELECT payment, order_id, method, outcome, returned_by, coalesce(refused_by, ''), coalesce(why, ''), coalesce(contact, ''),
	amount, give_back, verified_at, returned_at FROM deposits LEFT JOIN refusals USING (payment) LEFT JOIN contacts USING (order_id)`

func scanDeposit(rows *sql.Rows, d *deposit) error {
	var verified, returned int64
	err := rows.Scan(&d.Payment, &d.OrderID, &d.Method, &d.Outcome, &d.ReturnedBy, &d.RefusedBy, &d.Why, &d.Contact, &d.Amount, &d.GiveBack, &verified, &returned)
	d.VerifiedAt, d.ReturnedAt = since(verified), since(returned)
	return err
}

// state is how an order stands for its customer. Each is a key of texts.
type state string

const (
	stateUnprepared state = "unprepared" // there is no payment link yet
	stateWaiting    state = "waiting"
	stateExpired    state = "expired"
	stateArrived    state = "arrived"   // the money is here, the handler is to run
	stateChecking   state = "checking"  // in review: the sum differs
	stateAttention  state = "attention" // the handler gave up
	stateRejected   state = "rejected"
	statePaid       state = "paid"
	stateCancelled  state = "cancelled"
	stateSoldOut    state = "sold_out"
)

// orderView is an order with its money, as the pages show it.
type orderView struct {
	order
	State    state
	Link     string // where to pay; empty if that makes no sense now
	Came     int64  // won that is here and not decided on
	Deposits []deposit
	used     bool          // the newest link has been paid
	entries  []inbox.Entry // its payments in the ledger
}

// StateKey is the key of the text that says how the order stands.
func (o orderView) StateKey() string { return string(o.State) }

// Tone is the colour of the state.
func (o orderView) Tone() string {
	switch o.State {
	case statePaid:
		return "ok"
	case stateExpired, stateChecking, stateAttention, stateRejected, stateSoldOut, stateUnprepared:
		return "warn"
	case stateWaiting, stateArrived, stateCancelled:
	}
	return ""
}

// Pending reports whether the page may change by itself soon.
func (o orderView) Pending() bool {
	return o.Status == open || o.State == stateArrived || o.State == stateChecking
}

// CanCancel: money that is on its way or here is the shopkeeper's business.
func (o orderView) CanCancel() bool {
	return o.Status == open && o.Came == 0
}

// CanLink reports whether the customer may ask for another payment link.
func (o orderView) CanLink() bool {
	return o.CanCancel() && o.Links < maxLinks
}

// Paid is the deposit that has paid the order, if one has.
func (o orderView) Paid() (deposit, bool) {
	for _, d := range o.Deposits {
		if d.Outcome == paid {
			return d, true
		}
	}
	return deposit{}, false
}

// look puts together what the shop and the ledger know of an order.
func (s *shop) look(ctx context.Context, o order) (orderView, error) {
	v := orderView{order: o}
	var err error
	if v.Deposits, err = all(ctx, s.db.read, scanDeposit, selectDeposit+` WHERE order_id = $1 ORDER BY verified_at, payment`, o.ID); err != nil {
		return v, err
	}
	if len(v.Deposits) > 0 { // the order may have been read before the first of them came
		if v.Status, err = s.status(ctx, o.ID); err != nil {
			return v, err
		}
	}
	v.State = s.plainState(v.order)
	if err = s.hear(ctx, &v); err != nil {
		return v, err
	}
	if slices.ContainsFunc(v.Deposits, func(d deposit) bool { return d.Outcome == rejected }) {
		v.refuse()
	}
	if o.PayToken != "" && !v.used && slices.Contains([]state{stateWaiting, stateExpired, stateRejected}, v.State) {
		v.Link, err = s.checkoutURL(o.PayToken)
	}
	return v, err
}

// hear asks the ledger for the payments of an order, each by its key: pages look often, and
// there are many payments. A record that names no payment is left to the shopkeeper, since
// it may be one that the order has already.
func (s *shop) hear(ctx context.Context, v *orderView) error {
	links, err := all(ctx, s.db.read, func(rows *sql.Rows, id *string) error { return rows.Scan(id) }, `SELECT payment FROM pay_links WHERE order_id = $1`, v.ID)
	if err != nil {
		return err
	}
	for _, id := range links {
		e, err := s.box.Get(ctx, id)
		if err != nil && !errors.Is(err, inbox.ErrNotFound) {
			return err
		}
		v.hear(e)
		if err == nil {
			v.entries = append(v.entries, e)
		}
	}
	return nil
}

func (s *shop) plainState(o order) state {
	switch {
	case o.Status == paid:
		return statePaid
	case o.Status == cancelled:
		return stateCancelled
	case o.Status == soldOut:
		return stateSoldOut
	case o.PayToken == "":
		return stateUnprepared
	case !s.now().Before(o.Deadline):
		return stateExpired
	}
	return stateWaiting
}

// hear takes in how a payment stands in the ledger.
func (o *orderView) hear(e inbox.Entry) {
	if e.Stage < inbox.StageReady {
		return // not paid
	}
	o.used = o.used || e.Key == o.PayToken
	switch {
	case e.Stage == inbox.StageDone, slices.ContainsFunc(o.Deposits, func(d deposit) bool { return d.Payment == e.Key }):
		return // a deposit by now
	case e.Rejected: // without money, or it would be a deposit
		o.refuse()
		return
	}
	o.Came += whole(e.Payment.PaidAmount)
	if o.Status == open {
		o.State = undecided[e.Stage]
	}
}

// undecided is how an open order stands whose money is here and has bought nothing yet.
var undecided = map[inbox.Stage]state{
	inbox.StageReady: stateArrived, inbox.StageReview: stateChecking, inbox.StageDead: stateAttention,
}

// refuse tells that a payment was rejected, unless there is more to say of another one.
func (o *orderView) refuse() {
	switch o.State {
	case stateUnprepared, stateWaiting, stateExpired:
		o.State = stateRejected
	case stateArrived, stateChecking, stateAttention, stateRejected, statePaid, stateCancelled, stateSoldOut:
	}
}

// whole is the won of an amount. A fraction of a won counts as a whole one, so that nobody
// gets back less than was paid; the back office shows the exact sum.
func whole(a payments.Amount) int64 {
	if won, ok := a.Int64(); ok {
		return won
	}
	digits, _, _ := strings.Cut(a.String(), ".")
	won, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || a.Sign() < 0 {
		return 0
	}
	return won + 1
}

func (s *shop) checkoutURL(payToken string) (string, error) {
	id, err := uuid.Parse(payToken)
	if err != nil {
		return "", err
	}
	return s.client.CheckoutURL(id)
}
