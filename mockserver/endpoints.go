package mockserver

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// apiRoute is an endpoint of the service: it answers a call with one JSON value, or
// refuses it. op is the name of its operation.
type apiRoute struct {
	op, method string
	serve      func(*Server, *call) ([]byte, *Error)
}

var apiRoutes = map[string]*apiRoute{
	"/payments":                {opCreate, http.MethodPost, createPayment},
	"/payments/confirm":        {opConfirm, http.MethodPost, confirmPayment},
	"/callback/rest":           {opNext, http.MethodGet, pollPayment},
	"/callback/webhook/status": {opStatus, http.MethodGet, webhookStatus},
	"/callback/webhook/resend": {opResend, http.MethodPost, resendWebhook},
	"/mobile/banks":            {opBanks, http.MethodGet, listBanks},
	"/mobile/deposit":          {opDeposit, http.MethodPost, uploadDeposit},
}

// createPayment answers POST /payments (interface §4.1): {"payToken":"…"}.
func createPayment(s *Server, c *call) ([]byte, *Error) {
	p, token, problem := readCreation(c.body)
	if problem != nil {
		return nil, problem
	}
	p.ID = uuid.NewString()
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.apps.find(token)
	if problem == nil {
		problem = s.book.insert(p, app)
	}
	if problem != nil {
		return nil, problem
	}
	b := make([]byte, 0, 64)
	b = append(b, `{"payToken":"`...)
	b = append(b, p.ID...)
	return append(b, `"}`...), nil
}

// readCreation reads and checks the body of interface §2.1. It ignores fields that the
// interface does not name, metadata above all: only the game store makes payments of a
// product.
func readCreation(body []byte) (p *payment, token string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return nil, "", problem
	}
	p = new(payment)
	problem = o.requiredTexts(
		textField{"token", &token}, textField{"title", &p.Title}, textField{"identifier", &p.Identifier})
	if problem != nil {
		return nil, "", problem
	}
	if p.Icon, problem = readIcon(o, "icon"); problem != nil {
		return nil, "", problem
	}
	if p.Amount, _, problem = o.whole("amount", "amount", 1); problem != nil {
		return nil, "", problem
	}
	p.metadata, p.icons, problem = readItems(o)
	return p, token, problem
}

// emptyPoll is the most frequent answer of all, so it is rendered once; nothing changes it.
var (
	emptyPoll = &Error{
		Code: CodeNoProcessedPayment, Message: "no payment is waiting in PROGRESS; ask again in 3 to 5 seconds",
	}
	emptyPollJSON = emptyPoll.appendJSON(nil)
)

// pollPayment answers GET /callback/rest (interface §4.2): the payment that has waited
// in PROGRESS for the longest time, now COMPLETE.
func pollPayment(s *Server, c *call) ([]byte, *Error) {
	token, problem := c.token()
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.apps.find(token)
	if problem != nil {
		return nil, problem
	}
	p := s.book.poll(app)
	if p == nil {
		return nil, emptyPoll
	}
	return p.appendRecord(make([]byte, 0, p.recordSize())), nil
}

// confirmPayment answers POST /payments/confirm (interface §4.3). It completes a payment
// in PROGRESS, unless [Config.ConfirmKeepsState] is set, and returns the same
// record again later on: a client that lost the response may simply repeat the
// call.
func confirmPayment(s *Server, c *call) ([]byte, *Error) {
	token, id, problem := readPayTokenBody(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := paymentOf(s, token, id)
	if problem == nil {
		problem = s.book.confirm(p)
	}
	if problem != nil {
		return nil, problem
	}
	return p.appendRecordAs(make([]byte, 0, p.recordSize()), StatusComplete), nil
}

// paymentOf finds a payment of the application with the token. The caller holds s.mu.
func paymentOf(s *Server, token, id string) (*payment, *Error) {
	app, problem := s.apps.find(token)
	if problem != nil {
		return nil, problem
	}
	return s.book.findOf(app, id)
}

// readPayTokenBody reads the body of confirm and resend.
func readPayTokenBody(body []byte) (token, id string, problem *Error) {
	o, problem := parseObject(body)
	if problem == nil {
		problem = o.requiredTexts(textField{"token", &token}, textField{"payToken", &id})
	}
	return token, id, problem
}

// deliveryJSON is the shape of the two webhook endpoints (interface §4.7), which
// the interface leaves open. Fields that do not apply are absent.
type deliveryJSON struct {
	PaymentID string         `json:"payment_id"`
	WebhookID string         `json:"webhook_id"`
	Status    DeliveryStatus `json:"status"`
	// Attempts counts the attempts sent in the present run: a resend starts
	// again from 1.
	Attempts       int    `json:"attempts"`
	LastAttemptTS  string `json:"last_attempt_ts,omitempty"`
	NextAttemptTS  string `json:"next_attempt_ts,omitempty"`
	LastHTTPStatus int    `json:"last_http_status,omitempty"`
	LastError      string `json:"last_error,omitempty"`
}

func renderDelivery(d *delivery, redact func(string) string) []byte {
	out := deliveryJSON{PaymentID: d.payment.ID, WebhookID: d.id, Status: d.status, Attempts: d.begun}
	if n := len(d.attempts); n > 0 {
		last := d.attempts[n-1]
		out.LastAttemptTS = formatTime(last.Started)
		out.LastHTTPStatus = last.HTTPStatus
		out.LastError = redact(last.Err)
	}
	if d.next != nil {
		out.NextAttemptTS = formatTime(d.next.At)
	}
	return marshal(out)
}

// webhookStatus answers GET /callback/webhook/status?token=&payToken=.
func webhookStatus(s *Server, c *call) ([]byte, *Error) {
	token, problem := c.token()
	if problem != nil {
		return nil, problem
	}
	id, problem := c.required("payToken")
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := paymentOf(s, token, id)
	if problem != nil {
		return nil, problem
	}
	if p.delivery == nil {
		return nil, &Error{Code: CodeWebhookNotFound, Message: "no webhook was sent for this payment: " +
			"it is not in PROGRESS yet, or no webhook URI was configured when it was"}
	}
	return renderDelivery(p.delivery, s.log.redact), nil
}

// resendWebhook answers POST /callback/webhook/resend {"token","payToken"} with
// the delivery as it is once the resend has begun.
func resendWebhook(s *Server, c *call) ([]byte, *Error) {
	token, id, problem := readPayTokenBody(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := paymentOf(s, token, id)
	if problem == nil {
		problem = s.sender.resend(p)
	}
	if problem != nil {
		return nil, problem
	}
	return renderDelivery(p.delivery, s.log.redact), nil
}

// listBanks answers GET /mobile/banks with an array (interface §4.4, §4.5). It needs
// no token.
func listBanks(_ *Server, c *call) ([]byte, *Error) {
	details, problem := c.param("details")
	if problem != nil {
		return nil, problem
	}
	switch strings.ToLower(details) {
	case "true":
		return banksDetailed, nil
	case "", "false":
		return banksBasic, nil
	default:
		return nil, invalidParameter("details", "must be true or false")
	}
}

// uploadDeposit answers POST /mobile/deposit (interface §4.6). It drops what comes
// from an app that is not in the bank list: {"result":"IGNORED"}. Any other answer is
// flat:
//
//	{"result":"MATCHED","deposit_id":"…","payToken":"…"}
//	{"result":"UNMATCHED","deposit_id":"…","reason":"NO_MATCH"}
//	{"result":"RECEIVED","deposit_id":"…"}    no deposit: an advert, a withdrawal
//	{"result":"DISMISSED","deposit_id":"…"}   a repeat, after a person dismissed it
//
// A repeated upload gets the answer as it would be now, with "repeated":true. With
// a token only the payments of its application count, else those of all.
func uploadDeposit(s *Server, c *call) ([]byte, *Error) {
	n, token, problem := readNotification(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, repeated, problem := s.phone.receive(n, token)
	switch {
	case problem != nil:
		return nil, problem
	case u == nil:
		return []byte(`{"result":"IGNORED"}`), nil
	}
	return u.answer(repeated), nil
}

func (u *upload) answer(repeated bool) []byte {
	b := append([]byte(`{"result":"`), u.Result...)
	b = append(b, `","deposit_id":"`...)
	b = append(append(b, u.ID...), '"')
	if u.Result == ResultMatched {
		b = append(append(b, `,"payToken":"`...), u.PaymentID...)
		b = append(b, '"')
	}
	if u.Result == ResultUnmatched {
		b = append(append(b, `,"reason":"`...), u.reason...)
		b = append(b, '"')
	}
	if repeated {
		b = append(b, `,"repeated":true`...)
	}
	return append(b, '}')
}

// maxNotificationID is the longest notification_id in bytes.
const maxNotificationID = 200

// readNotification reads an upload. The interface shows no field names; these are
// package, title, subtitle, text, and optionally token and notification_id.
func readNotification(body []byte) (n Notification, token string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return n, "", problem
	}
	if problem = o.requiredTexts(textField{"package", &n.Package}); problem != nil {
		return n, "", problem
	}
	problem = o.texts(textField{"title", &n.Title}, textField{"subtitle", &n.Subtitle}, textField{"text", &n.Text},
		textField{"token", &token}, textField{"notification_id", &n.NotificationID})
	if problem != nil {
		return n, "", problem
	}
	if n.Title == "" && n.Subtitle == "" && n.Text == "" {
		return n, "", invalidParameter("title", "is required: send the title and the subtitle (or text) of the notification")
	}
	if len(n.NotificationID) > maxNotificationID || !utf8.ValidString(n.NotificationID) {
		return n, "", invalidParameter("notification_id",
			fmt.Sprintf("must be valid UTF-8 of at most %d bytes", maxNotificationID))
	}
	return n, token, nil
}
