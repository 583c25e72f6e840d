package web

import "time"

// Dash is what every page of the dashboard shows around its body.
type Dash struct {
	// Now is the time of the server's clock, Rate how many of its seconds pass in one of
	// real time; 0 if it stands still.
	Now  time.Time
	Rate float64
	// Unmatched, Pending and Failed are the numbers next to the navigation: deposits
	// that wait for a person, and webhook deliveries under way and given up.
	Unmatched, Pending, Failed int64
	// Faults reports whether faults are set, which explains many a surprise.
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
	// Webhook reports whether any application has a webhook URI.
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
	Amount int64
	// Paid tells that Amount was paid, also if that is 0.
	Paid    bool
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

// DashEvent is one entry of a timeline. Text is in the server's words, with what people
// typed; see [SayEvent].
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
	// Webhook reports whether any application has a webhook URI.
	Webhook bool
}

// DashDelivery is the webhook delivery of a payment, its attempts newest first.
type DashDelivery struct {
	PaymentID, Title, WebhookID, URL, Status string
	// Wait is the wait for the next attempt, if Waits says that one is to come.
	Wait      Wait
	Waits     bool
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
	// URL is where it was sent to, Request the request as sent: the line, the headers, the
	// body. Response is the body of the answer.
	URL, Request, Response string
}

// DashNext is the webhook attempt that the clock brings next.
type DashNext struct {
	PaymentID, Title string
	Number, Of       int
	Wait
}
