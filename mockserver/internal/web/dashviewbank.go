package web

import "time"

// DashPhone is the simulator of the phone with the bank's app.
type DashPhone struct {
	Banks []DashBank
	// Waiting are payments that a deposit could pay, newest first.
	Waiting []DashRow
	Recent  []DashNotification
}

// DashBank is a bank of the list.
type DashBank struct{ Name, Package string }

// DashNotification is a bank notification and what became of it.
type DashNotification struct {
	ID, Bank, Package, Title, Subtitle, Text string
	Received                                 time.Time
	// Result is MATCHED, UNMATCHED, RECEIVED or DISMISSED, Reason why it is
	// unmatched, PaymentID the payment that it paid.
	Result, Reason, PaymentID string
}

// DashUnmatched is the list of deposits that wait for a person, newest first.
type DashUnmatched struct {
	Rows    []DashDeposit
	Dropped int64 // how many were forgotten
	Pager   Pager
}

// DashDeposit is a deposit that was given to no payment.
type DashDeposit struct {
	DashNotification
	Payer      string
	Amount     int64 // 0: not readable
	Candidates []DashRow
}

// DashStore is the game store from behind the counter.
type DashStore struct {
	Applications []string
	Products     []DashProduct
	Pager        Pager
	// Edit is the product whose form is open, without an ID for a new one.
	Edit DashProduct
}

// DashUsers are the users of the game store.
type DashUsers struct {
	Users []DashUser
	Pager Pager
	// Edit is the user whose form is open, without an ID for a new one.
	Edit DashUser
}

// DashProduct is a product of the game store.
type DashProduct struct {
	ID, Application, Name, Icon string
	Price                       int64
}

// DashUser is somebody who buys in the game store.
type DashUser struct{ ID, Name string }

// DashApplications is the list of the service's clients.
type DashApplications struct {
	Rows []DashApplication
	// Edit is the application whose form is open; its Number is 0 for a new one.
	Edit DashApplication
	// Options are the choices of the dialect of Edit.
	Options []DashOption
}

// DashApplication is a client of the service. Token is a secret: it belongs behind
// the control that shows it, and nowhere else.
type DashApplication struct {
	Number                             int // from 1, in the order of creation
	Name, Token, WebhookURL, GameField string
	Dialect                            string
}

// DashOption is one choice in a form.
type DashOption struct {
	Name, Chosen string
	Values       []string
}

// DashClock is the clock and what it brings.
type DashClock struct {
	Mode   string   // real, stopped or accelerated
	Factor float64  // of an accelerated clock, else 0
	Spans  []string // lengths of time to choose from
	Next   *DashNext
	// Waiting are the attempts to come, the soonest first.
	Waiting []DashNext
}

// DashFaults is the trouble that the server makes.
type DashFaults struct {
	Rules      []DashFault
	More       int64  // rules that are not shown
	Chance     string // what comes by chance, as text; empty without any
	Log        []DashStrike
	Logged     int
	Operations []Option
	Kinds      []Option
}

// DashFault is one rule: which calls of which operation, and what happens.
//
// Words is all of it in one line, for the form that removes it.
type DashFault struct{ Operation, Calls, What, Words string }

// DashStrike is one entry of the fault log.
type DashStrike struct {
	Operation string
	Call      uint64
	Fault     string
}

// DashRequests is the request log, newest first, without tokens.
type DashRequests struct {
	Rows  []DashRequest
	Pager Pager
}

// DashRequest is one API request. SentStatus and Sent are what a fault made of the
// answer, and count only with a Fault.
type DashRequest struct {
	// Key is by what the request is known on the page.
	Key uint64
	// Code is the error code of the answer, empty without one. Bad marks what is a
	// fault of somebody, unlike an empty poll.
	Code                      string
	Bad                       bool
	At                        time.Time
	Method, Path, Query, Body string
	Status                    int
	Response, Fault           string
	SentStatus                int
	Sent                      string
}
