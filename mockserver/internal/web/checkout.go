package web

import "time"

// Stage is how far a payment is, for the customer.
type Stage string

// The stages of the checkout page.
const (
	StagePayer    Stage = "payer"    // who will pay?
	StageTransfer Stage = "transfer" // the deposit is expected
	StageCheck    Stage = "check"    // it has arrived, the merchant does not know yet
	StageComplete Stage = "complete"
	StageFailed   Stage = "failed" // a voucher that was worth nothing
	StageExpired  Stage = "expired"
)

// Checkout is the checkout page of one payment.
type Checkout struct {
	Stage Stage
	Title string
	// Shop is the name of the application.
	Shop string
	Icon Icon
	// User is the game-user id of a payment from the game store, otherwise empty.
	User  string
	Lines []Line
	// Due is the amount to pay; 0 while the customer has not chosen it.
	Due int64
	// ExpiresAt is zero for a payment that does not expire.
	ExpiresAt time.Time
	Icons     Icons
	// Form is set while the customer has to enter something, Transfer while a deposit is
	// expected, Receipt afterwards.
	Form     *PayerForm
	Transfer *Transfer
	Receipt  *Receipt
}

// Line is an item that is paid for.
type Line struct {
	Name         string
	Icon         Icon
	Count, Price int64
}

// PayerForm asks who pays and, without a fixed price, how much.
type PayerForm struct {
	// Action is where the form goes.
	Action string
	Payer  Field
	Amount *Field
	// Back cancels a correction; empty when there is nothing to go back to.
	Back string
}

// Transfer is what the customer does at the bank.
type Transfer struct {
	Bank, Number, Holder string
	Payer                string
	Amount               int64
	// Edit is where the customer corrects what was entered.
	Edit string
}

// Receipt is the deposit that arrived.
type Receipt struct {
	Payer string
	Paid  int64
	// Under and Over say by how much it differs from the amount due; at most one is set.
	Under, Over int64
	PaidAt      time.Time
	VerifiedAt  time.Time
}

// Step is one of the four steps of a payment.
type Step struct {
	Stage         Stage
	Done, Current bool
}

// Steps are the four steps with the current one marked.
func (c Checkout) Steps() []Step {
	order := []Stage{StagePayer, StageTransfer, StageCheck, StageComplete}
	at := -1
	for i, stage := range order {
		if stage == c.Stage {
			at = i
		}
	}
	if at < 0 {
		return nil // nothing more will happen
	}
	steps := make([]Step, len(order))
	for i, stage := range order {
		steps[i] = Step{Stage: stage, Done: i < at || c.Stage == StageComplete, Current: i == at}
	}
	return steps
}

// Tone is the color of the status.
func (c Checkout) Tone() string {
	switch c.Stage {
	case StageComplete:
		return "ok"
	case StageFailed, StageExpired:
		return "bad"
	default:
		return ""
	}
}
