package main

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// deposit is money that arrived, and what became of it.
type deposit struct {
	Payment, OrderID, Outcome string
	Amount, Owed              int64
	VerifiedAt                int64
}

const selectDeposits = `SELECT payment, order_id, outcome, amount, owed, verified_at FROM deposits`

func scanDeposit(rows *sql.Rows, d *deposit) error {
	return rows.Scan(&d.Payment, &d.OrderID, &d.Outcome, &d.Amount, &d.Owed, &d.VerifiedAt)
}

// state is the state of an order as its customer sees it. Each is a key of texts.
type state string

const (
	statePreparing  state = "preparing"  // the service is creating the payment
	stateUnprepared state = "unprepared" // the service did not create a payment
	stateWaiting    state = "waiting"
	stateExpired    state = "expired"
	stateArrived    state = "arrived"   // the money is here; grant has not run yet
	stateChecking   state = "checking"  // in review: the amount differs
	stateAttention  state = "attention" // dead letter: grant gave up
	stateRejected   state = "rejected"
	statePaid       state = paid
	stateCancelled  state = cancelled
	stateSoldOut    state = soldOut
)

// undecided is the state of an open order by the stage of a payment that has not bought anything yet.
var undecided = map[inbox.Stage]state{
	inbox.StageReady: stateArrived, inbox.StageReview: stateChecking, inbox.StageDead: stateAttention,
}

// orderView is an order with its money, as the customer sees it.
type orderView struct {
	order
	State    state
	Link     string // where to pay; empty if there is nothing to pay
	NextLink int    // the number that the next payment would have
	Came     int64  // won that arrived and that nobody has decided on
	Deposits []deposit
}

// CanCancel reports whether the customer may cancel: not while money waits for a decision.
func (o orderView) CanCancel() bool { return o.Status == open && o.Came == 0 }

// CanLink reports whether the customer may ask for another payment link.
func (o orderView) CanLink() bool { return o.CanCancel() && o.State != statePreparing }

// look reads everything that the shop and the inbox know about an order. It reads the inbox first: what
// grant records meanwhile is found in the tables.
func (s *shop) look(ctx context.Context, id string) (v orderView, err error) {
	if !isUUID(id) {
		return v, errNotFound
	}
	links, err := s.links(ctx, id)
	if err != nil {
		return v, err
	}
	query := selectDeposits + ` WHERE order_id = $1 ORDER BY verified_at, payment`
	v.Deposits, err = all(ctx, s.db.read, scanDeposit, query, id)
	if err != nil {
		return v, err
	}
	if v.order, err = s.order(ctx, id); err != nil {
		return v, err
	}
	var last payLink
	if len(links) > 0 {
		last = links[len(links)-1]
		v.NextLink = last.N + 1
	}
	v.State = s.stateWithoutMoney(v.order, last)
	for _, l := range links {
		v.add(l.Entry)
	}
	payable := v.State == stateWaiting || v.State == stateExpired || v.State == stateRejected
	if payable && last.Entry.Stage < inbox.StageReady { // nobody has used the link
		v.Link, err = s.checkoutURL(last.Payment)
	}
	return v, err
}

func (s *shop) checkoutURL(payment string) (string, error) {
	id, err := uuid.Parse(payment)
	if err != nil {
		return "", err
	}
	return s.client.CheckoutURL(id)
}

// stateWithoutMoney is the state of an order with no payment in progress.
func (s *shop) stateWithoutMoney(o order, last payLink) state {
	switch now := s.now().Unix(); {
	case o.Status != open:
		return state(o.Status)
	case last.Payment == "" && now < last.CreatedAt+10:
		return statePreparing
	case last.Payment == "":
		return stateUnprepared
	case now >= o.Deadline:
		return stateExpired
	}
	return stateWaiting
}

// add adds a payment that the inbox has and grant has not recorded.
func (o *orderView) add(e inbox.Entry) {
	granted := slices.ContainsFunc(o.Deposits, func(d deposit) bool { return d.Payment == e.Key })
	if e.Stage < inbox.StageReady || e.Stage == inbox.StageDone || granted {
		return
	}
	won := wonOf(e.Payment.PaidAmount)
	if e.Rejected {
		if won > 0 {
			o.Deposits = append(o.Deposits, deposit{Payment: e.Key, OrderID: o.ID, Outcome: rejected, Amount: won, Owed: won})
		}
		if o.State == stateWaiting || o.State == stateExpired {
			o.State = stateRejected
		}
		return
	}
	o.Came += won
	if o.Status == open {
		o.State = undecided[e.Stage]
	}
}

// wonOf returns an amount in won. A fraction counts as a whole won, so that nobody gets back less than
// they paid.
func wonOf(a payments.Amount) int64 {
	whole, fraction, _ := strings.Cut(a.String(), ".")
	won, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && fraction != "" {
		won++
	}
	return max(0, won)
}
