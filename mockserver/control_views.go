package mockserver

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// The views are what the control API answers and what the pages show, so that both say
// the same. What has no place in JSON is marked with "-" or is a method.

// whole is a time as the control API has it: in UTC and whole seconds.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// paymentView is a Payment. Its status is the constant, whatever Config.StatusNames
// makes of it in records.
type paymentView struct {
	ID          string         `json:"id"`
	Application string         `json:"application"`
	Identifier  string         `json:"identifier"`
	Title       string         `json:"title"`
	Icon        string         `json:"icon,omitempty"`
	Items       []itemView     `json:"items,omitempty"`
	GameProduct string         `json:"game_product,omitempty"`
	Status      Status         `json:"status"`
	Amount      int64          `json:"amount,omitempty"`
	Payer       string         `json:"payer,omitempty"`
	PayerAmount int64          `json:"payer_amount,omitempty"`
	Method      string         `json:"method,omitempty"`
	PaidAmount  int64          `json:"paid_amount"`
	Completions int            `json:"completions"`
	CreatedAt   time.Time      `json:"created_ts"`
	ExpiresAt   time.Time      `json:"expires_ts,omitzero"`
	DepositedAt time.Time      `json:"deposited_ts,omitzero"`
	VerifiedAt  time.Time      `json:"verified_ts,omitzero"`
	Delivery    DeliveryStatus `json:"delivery,omitempty"`

	// CanPay and CanResend report whether the command would be accepted.
	CanPay    bool `json:"-"`
	CanResend bool `json:"-"`
}

type itemView struct {
	Name  string `json:"name"`
	Price int64  `json:"price"`
	Count int64  `json:"count"`
	Icon  string `json:"icon,omitempty"`
}

func viewPayment(p Payment) paymentView {
	out := paymentView{
		ID: p.ID, Application: p.Application, Identifier: p.Identifier, Title: p.Title, Icon: p.Icon,
		GameProduct: p.GameProduct, Status: p.Status, Amount: p.Amount, Payer: p.Payer, PayerAmount: p.PayerAmount,
		Method: p.Method, PaidAmount: p.PaidAmount, Completions: p.Completions, CreatedAt: whole(p.CreatedAt),
		ExpiresAt: whole(p.ExpiresAt), DepositedAt: whole(p.DepositedAt), VerifiedAt: whole(p.VerifiedAt),
	}
	for _, i := range p.Items {
		out.Items = append(out.Items, itemView(i))
	}
	return out
}

// Unpaid reports whether a deposit is expected.
func (p paymentView) Unpaid() bool { return p.Status == StatusCreated || p.Status == StatusWaiting }

// Paid reports whether a deposit was recognized.
func (p paymentView) Paid() bool { return p.Status == StatusProgress || p.Status == StatusComplete }

// Due is the fixed price or the amount that the payer chose; 0 while it is open.
func (p paymentView) Due() int64 {
	if p.Amount != 0 {
		return p.Amount
	}
	return p.PayerAmount
}

// Sum is what was paid or, before that, what is due.
func (p paymentView) Sum() int64 {
	if p.Paid() {
		return p.PaidAmount
	}
	return p.Due()
}

type eventView struct {
	At   time.Time `json:"ts"`
	Kind EventKind `json:"kind"`
	Text string    `json:"text"`
}

type attemptView struct {
	PaymentID  string    `json:"payment_id"`
	WebhookID  string    `json:"webhook_id"`
	RetryCount int       `json:"retry_count"`
	URL        string    `json:"url"`
	Due        time.Time `json:"due_ts"`
	Started    time.Time `json:"started_ts"`
	Ended      time.Time `json:"ended_ts,omitzero"`
	HTTPStatus int       `json:"http_status,omitempty"`
	Response   string    `json:"response,omitempty"`
	Err        string    `json:"error,omitempty"`
	Fault      string    `json:"fault,omitempty"`
}

func (c control) viewAttempt(a Attempt) attemptView {
	return attemptView{
		PaymentID: a.PaymentID, WebhookID: a.WebhookID, RetryCount: a.RetryCount, URL: c.s.log.redact(a.URL),
		Due: whole(a.Due), Started: whole(a.Started), Ended: whole(a.Ended),
		HTTPStatus: a.HTTPStatus, Response: a.Response, Err: c.s.log.redact(a.Err), Fault: a.Fault,
	}
}

// Number is the place of the attempt in its run, from 1 to Of.
func (a attemptView) Number() int { return a.RetryCount + 1 }

// Of is how many attempts a run has.
func (a attemptView) Of() int { return len(waits) }

// Request is the HTTP request as sent; see send.
func (a attemptView) Request() string {
	path, host := "/", ""
	if u, err := url.Parse(a.URL); err == nil {
		path, host = u.RequestURI(), u.Host
	}
	body := `{"payment_id":"` + a.PaymentID + `"}`
	return fmt.Sprintf("POST %s HTTP/1.1\nHost: %s\nUser-Agent: %s\nContent-Length: %d\nContent-Type: application/json\n"+
		"X-Retry-Count: %d\nX-Webhook-ID: %s\n\n%s", path, host, webhookUserAgent, len(body), a.RetryCount, a.WebhookID, body)
}

type deliveryView struct {
	PaymentID string         `json:"payment_id"`
	Title     string         `json:"title"`
	WebhookID string         `json:"webhook_id"`
	URL       string         `json:"url"`
	Status    DeliveryStatus `json:"status"`
	Next      time.Time      `json:"next_attempt_ts,omitzero"`
	Attempts  []attemptView  `json:"attempts"`

	Wait      web.Wait `json:"-"` // until Next
	CanResend bool     `json:"-"`
}

// shownAttempt is an attempt on a page, which knows it again by its key.
type shownAttempt struct {
	attemptView
	Key string
}

// Newest are the attempts, newest first.
func (d deliveryView) Newest() []shownAttempt {
	var list []shownAttempt
	for i, a := range slices.Backward(d.Attempts) {
		list = append(list, shownAttempt{a, fmt.Sprintf("%s-%d", d.WebhookID, i)})
	}
	return list
}

// waitingView is a webhook attempt to come.
type waitingView struct {
	PaymentID string    `json:"payment_id"`
	Title     string    `json:"title"`
	Number    int       `json:"number"`
	Due       time.Time `json:"due_ts"`

	Wait web.Wait `json:"-"` // until Due
}

// Of is how many attempts a run has.
func (w waitingView) Of() int { return len(waits) }

type requestView struct {
	// Number counts the requests from 1.
	Number   uint64    `json:"number"`
	At       time.Time `json:"ts"`
	Method   string    `json:"method"`
	Path     string    `json:"path"`
	Query    string    `json:"query"`
	Body     string    `json:"body"`
	Status   int       `json:"status"`
	Response string    `json:"response"`
	// Fault, SentStatus and Sent are there for a request that a fault has struck.
	Fault      string  `json:"fault,omitempty"`
	SentStatus *int    `json:"sent_status,omitempty"`
	Sent       *string `json:"sent,omitempty"`
}

// Code is the error code of the answer, empty without one.
func (r requestView) Code() string {
	code, _ := errorIn([]byte(r.Response))
	return code
}

// Bad reports whether the answer is an error. An empty poll is none.
func (r requestView) Bad() bool {
	code := r.Code()
	return code != "" && code != string(CodeNoProcessedPayment) || r.Status >= 400
}

// Answered reports whether the client of a struck request got an answer.
func (r requestView) Answered() bool { return r.SentStatus != nil && *r.SentStatus != 0 }

// SentText is the body of that answer.
func (r requestView) SentText() string {
	if r.Sent == nil {
		return ""
	}
	return *r.Sent
}

type notificationView struct {
	ID        string          `json:"deposit_id"`
	Bank      string          `json:"bank"`
	Package   string          `json:"package"`
	Title     string          `json:"title"`
	Subtitle  string          `json:"subtitle"`
	Text      string          `json:"text"`
	Received  time.Time       `json:"received_ts"`
	Result    Result          `json:"result"`
	Reason    UnmatchedReason `json:"reason,omitempty"`
	PaymentID string          `json:"payToken,omitempty"`
}

func viewNotification(n Notification, reason UnmatchedReason) notificationView {
	return notificationView{
		ID: n.ID, Bank: bankName(n.Package), Package: n.Package, Title: n.Title, Subtitle: n.Subtitle, Text: n.Text,
		Received: whole(n.ReceivedAt), Result: n.Result, Reason: reason, PaymentID: n.PaymentID,
	}
}

func bankName(pkg string) string {
	for _, b := range bankList {
		if b.pkg == pkg {
			return b.name
		}
	}
	return pkg
}

// unmatchedView is a deposit that waits for a person.
type unmatchedView struct {
	notificationView
	Payer      string   `json:"payer,omitempty"`
	Amount     int64    `json:"amount,omitempty"`
	Candidates []string `json:"candidates"`

	Payments []paymentView `json:"-"` // the candidates
}

// applicationView is an Application without its token: anyone who asks knows it already,
// or must not know it.
type applicationView struct {
	Name       string  `json:"name"`
	WebhookURL string  `json:"webhook_url"`
	GameField  string  `json:"game_field"`
	Dialect    Dialect `json:"dialect"`
}

type productView struct {
	ID          string `json:"id"`
	Application string `json:"application"`
	Name        string `json:"name"`
	Icon        string `json:"icon,omitempty"`
	Price       int64  `json:"price"`
}

type userView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type accountView struct {
	Bank   string `json:"bank"`
	Number string `json:"number"`
	Holder string `json:"holder"`
}

type clockView struct {
	Now    time.Time `json:"now"`
	Mode   string    `json:"mode"`   // real, stopped or accelerated
	Factor float64   `json:"factor"` // seconds of the clock in one of real time
}

// movedView is the clock after it was moved.
type movedView struct {
	Now     time.Time    `json:"now"`
	Attempt *attemptView `json:"attempt,omitempty"`
}

// stateView is what every page of the dashboard shows, and the summary begins with.
type stateView struct {
	Now        time.Time              `json:"now"`
	Deliveries map[DeliveryStatus]int `json:"deliveries"`
	Unmatched  int                    `json:"unmatched"`
	Faults     bool                   `json:"faults"`

	Clock time.Time `json:"-"` // Now, to the nanosecond
	Rate  float64   `json:"-"` // seconds of the clock in one of real time
}

// summaryView is how things are.
type summaryView struct {
	stateView
	BaseURL     string         `json:"base_url"`
	CheckoutURL string         `json:"checkout_url"`
	StoreURL    string         `json:"store_url"`
	Payments    map[Status]int `json:"payments"`
	Products    int            `json:"products"`
	// Webhook reports whether any application has a webhook URI.
	Webhook bool         `json:"webhook"`
	Next    *waitingView `json:"next_attempt,omitempty"`

	Recent []paymentView `json:"-"`
}
