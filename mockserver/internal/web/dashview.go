package web

import "time"

// Dash is what every page of the dashboard shows around its body.
type Dash struct {
	// Now is the time of the server's clock.
	Now time.Time
	// Unmatched, Pending and Failed are the numbers beside the navigation: deposits
	// that wait for a person, and webhook deliveries under way and given up.
	Unmatched, Pending, Failed int64
	// Faults tells whether faults are set, which explains many a surprise.
	Faults bool
	// Form is the form that was refused, nil if none was.
	Form *DashForm
	// Body is the page's own view: one of the types of this file.
	Body any
}

// DashForm is a form that the server refused. Its values are as typed, without tokens.
type DashForm struct {
	// Name names the form among those of the page.
	Name   string
	Values map[string]string
	// Field is the field that is wrong, empty when it is none in particular.
	Field string
	// Code is the reason, Text the server's own words about it.
	Code, Text string
}

// DashSection is an entry of the navigation.
type DashSection struct{ Name, Path string }

// Sections is the navigation.
func (d *Dash) Sections() []DashSection {
	list := []DashSection{{"overview", "/_mock/"}}
	for _, name := range []string{
		"payments", "deliveries", "phone", "unmatched", "store", "applications", "clock", "faults", "requests",
	} {
		list = append(list, DashSection{name, "/_mock/ui/" + name})
	}
	return list
}

// DashOverview is the first page.
type DashOverview struct {
	BaseURL, CheckoutURL, StoreURL string
	Total                          int
	Statuses                       []DashCount
	Recent                         []DashRow
	Next                           *DashNext
	Products                       int
	// Webhook tells whether any application has a webhook URI.
	Webhook bool
}

// DashCount is how many payments have a status, or deliveries.
type DashCount struct {
	Status  string
	Count   int64
	Current bool
}

// DashRow is a payment in a list.
type DashRow struct {
	ID, Application, Identifier, Title, Payer string
	// Status is the status; Delivery that of the webhook, empty without one.
	Status, Delivery string
	// Amount is what was paid, or else what is due; 0 while nobody knows.
	Amount  int64
	Created time.Time
}

// DashPayments is the list of payments, newest first.
type DashPayments struct {
	Statuses []DashCount
	Status   string
	Rows     []DashRow
	Pager    Pager
	// Total is how many payments there are, of all statuses.
	Total int
}

// DashPayment is one payment with all that is known of it.
type DashPayment struct {
	DashRow
	Icon, Method, GameProduct              string
	Items                                  []DashItem
	Fixed, PayerAmount, PaidAmount         int64
	Completions                            int
	Deposited, Verified, Expires           time.Time
	Checkout                               string // the customer's link
	Record                                 string // as the API shows it, indented
	Timeline                               []DashEvent
	Webhook                                *DashDelivery
	CanPay, CanName, CanResend, CanDeliver bool
}

// DashItem is one thing paid for.
type DashItem struct {
	Name         string
	Price, Count int64
}

// DashEvent is one entry of a timeline. Text is in English, with what people typed.
type DashEvent struct {
	At         time.Time
	Kind, Text string
}

// DashDeliveries is the list of webhook deliveries, newest first.
type DashDeliveries struct {
	Statuses []DashCount
	Status   string
	Rows     []DashDelivery
	Next     *DashNext
	Pager    Pager
	// Webhook tells whether any application has a webhook URI.
	Webhook bool
}

// DashDelivery is the webhook delivery of a payment, its attempts newest first.
type DashDelivery struct {
	PaymentID, Title, WebhookID, URL, Status string
	NextDue                                  time.Time
	// NextIn is the wait until then, as in "4m30s"; empty when no attempt is to come.
	NextIn    string
	Attempts  []DashAttempt
	CanResend bool
}

// DashAttempt is one sending of a webhook.
type DashAttempt struct {
	// Key is by what the attempt is known on the page.
	Key string
	// Number is the attempt of its run, from 1; Of is how many a run has.
	Number, Of          int
	Due, Started, Ended time.Time
	HTTPStatus          int
	Err, Fault          string
	// Request is the request as sent: the line, the headers, the body.
	Request string
}

// DashNext is the webhook attempt that the clock brings next.
type DashNext struct {
	PaymentID, Title string
	Number, Of       int
	At               time.Time
	In               string // the wait until then, as in "4m30s"
}

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
	Mode   string // real, stopped or accelerated
	Factor float64
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
	Operations []string
	Kinds      []Option
}

// DashFault is one rule: which calls of which operation, and what happens.
type DashFault struct{ Operation, Calls, What string }

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
