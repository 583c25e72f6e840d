package mockserver

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

func (s *Server) renderDelivery(d *delivery) []byte {
	out := deliveryJSON{PaymentID: d.payment.ID, WebhookID: d.id, Status: d.status, Attempts: d.run}
	if n := len(d.attempts); n > 0 {
		last := d.attempts[n-1]
		out.LastAttemptTS = formatTime(last.Started)
		out.LastHTTPStatus = last.HTTPStatus
		out.LastError = s.log.redact(last.Err)
	}
	if d.next != nil {
		out.NextAttemptTS = formatTime(d.next.at)
	}
	return marshal(out)
}

// webhookStatus answers GET /callback/webhook/status?token=&payToken=.
func (s *Server) webhookStatus(c *call) ([]byte, *Error) {
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
	app, problem := s.application(token)
	if problem != nil {
		return nil, problem
	}
	p, problem := s.payment(app, id)
	if problem != nil {
		return nil, problem
	}
	if p.delivery == nil {
		return nil, &Error{Code: CodeWebhookNotFound, Message: "no webhook was sent for this payment: " +
			"it is not in PROGRESS yet, or no webhook URI was configured when it was"}
	}
	return s.renderDelivery(p.delivery), nil
}

// webhookResend answers POST /callback/webhook/resend {"token","payToken"} with
// the delivery as it stands once the resend has begun.
func (s *Server) webhookResend(c *call) ([]byte, *Error) {
	token, id, problem := readPayTokenBody(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	app, problem := s.application(token)
	if problem != nil {
		return nil, problem
	}
	p, problem := s.payment(app, id)
	if problem == nil {
		problem = s.resend(p)
	}
	if problem != nil {
		return nil, problem
	}
	return s.renderDelivery(p.delivery), nil
}

// Resend sends the webhook of a payment of any application again, as POST
// /callback/webhook/resend does (interface §4.7): ten attempts again, or none at all
// when the payment is COMPLETE. The error is an [*Error]: [CodePaymentNotFound],
// [CodePaymentNotPaid], [CodeWebhookNotFound], [CodeStorageFull] or
// [CodeServerClosed].
func (s *Server) Resend(payToken string) error {
	if problem := s.resendAny(payToken); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) resendAny(payToken string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	p, problem := s.anyPayment(payToken)
	if problem != nil {
		return problem
	}
	return s.resend(p)
}

// resend sends a COMPLETE payment nothing and marks its delivery delivered
// (interface §6.5). For a payment in PROGRESS it drops what is left of the run
// under way, also an attempt in flight, and begins a fresh run of 10 attempts
// under the same X-Webhook-ID. A delivery is made where none was: the URI may
// have been configured after the deposit.
func (s *Server) resend(p *payment) *Error {
	switch {
	case s.closed:
		return serverClosed()
	case p.Status != StatusProgress && p.Status != StatusComplete:
		return notPaid(p, "resend its webhook after the deposit")
	case p.Status == StatusProgress && p.app.WebhookURL == "":
		return &Error{Code: CodeWebhookNotFound, Message: "the application has no webhook URI; " +
			"configure one with PUT /_mock/webhook"}
	}
	d := p.delivery
	if d == nil {
		if !s.roomForDelivery() {
			return &Error{Code: CodeStorageFull, Message: "the cap of pending webhook deliveries is reached; raise Config.MaxDeliveries"}
		}
		d = s.newDelivery(p)
	}
	s.record(p, EventResend, "a resend was asked for")
	s.events.remove(d.next)
	d.next = nil
	if p.Status == StatusComplete {
		d.status = DeliveryDelivered
		return nil
	}
	if old := d.flight; old != nil {
		d.flight = nil
		s.finish(d, old, outcome{failure: errSuperseded})
	}
	s.beginRun(d)
	return nil
}
