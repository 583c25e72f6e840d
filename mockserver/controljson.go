package mockserver

type clockJSON struct {
	Now     string       `json:"now"`
	Attempt *attemptJSON `json:"attempt,omitempty"`
}

// attemptJSON and fullDeliveryJSON are Attempt and Delivery on the control API.
type attemptJSON struct {
	PaymentID  string `json:"payment_id"`
	WebhookID  string `json:"webhook_id"`
	RetryCount int    `json:"retry_count"`
	URL        string `json:"url"`
	DueTS      string `json:"due_ts"`
	StartedTS  string `json:"started_ts"`
	EndedTS    string `json:"ended_ts,omitempty"`
	HTTPStatus int    `json:"http_status,omitempty"`
	Response   string `json:"response,omitempty"`
	Error      string `json:"error,omitempty"`
	Fault      string `json:"fault,omitempty"`
}

type fullDeliveryJSON struct {
	PaymentID     string         `json:"payment_id"`
	WebhookID     string         `json:"webhook_id"`
	URL           string         `json:"url"`
	Status        DeliveryStatus `json:"status"`
	NextAttemptTS string         `json:"next_attempt_ts,omitempty"`
	Attempts      []attemptJSON  `json:"attempts"`
}

type requestJSON struct {
	TS       string `json:"ts"`
	Method   string `json:"method"`
	Path     string `json:"path"`
	Query    string `json:"query"`
	Body     string `json:"body"`
	Status   int    `json:"status"`
	Response string `json:"response"`
	// Fault, SentStatus and Sent are there for a request that a fault has struck.
	Fault      string  `json:"fault,omitempty"`
	SentStatus *int    `json:"sent_status,omitempty"`
	Sent       *string `json:"sent,omitempty"`
}

func (s *Server) attemptJSON(a Attempt) attemptJSON {
	return attemptJSON{
		PaymentID: a.PaymentID, WebhookID: a.WebhookID, RetryCount: a.RetryCount, URL: s.log.redact(a.URL),
		DueTS: formatTime(a.Due), StartedTS: formatTime(a.Started), EndedTS: formatTime(a.Ended),
		HTTPStatus: a.HTTPStatus, Response: a.Response, Error: s.log.redact(a.Err), Fault: a.Fault,
	}
}

// controlDeliveries answers {"deliveries":[…]} with every attempt.
func (s *Server) controlDeliveries(*call) ([]byte, *Error) {
	list := []fullDeliveryJSON{}
	for _, d := range s.Deliveries() {
		attempts := []attemptJSON{}
		for _, a := range d.Attempts {
			attempts = append(attempts, s.attemptJSON(a))
		}
		list = append(list, fullDeliveryJSON{
			PaymentID: d.PaymentID, WebhookID: d.WebhookID, URL: s.log.redact(d.URL), Status: d.Status,
			NextAttemptTS: formatTime(d.NextDue), Attempts: attempts,
		})
	}
	return marshal(map[string]any{"deliveries": list}), nil
}

// controlRequests answers {"requests":[…]}, oldest first, without tokens.
func (s *Server) controlRequests(*call) ([]byte, *Error) {
	list := []requestJSON{}
	for _, r := range s.Requests() {
		out := requestJSON{
			TS: formatTime(r.Time), Method: r.Method, Path: r.Path, Query: r.Query,
			Body: r.Body, Status: r.Status, Response: r.Response, Fault: r.Fault,
		}
		if r.Fault != "" {
			out.SentStatus, out.Sent = &r.SentStatus, &r.Sent
		}
		list = append(list, out)
	}
	return marshal(map[string]any{"requests": list}), nil
}
