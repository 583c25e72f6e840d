package mockserver

// poll answers GET /callback/rest (interface §4.2): the payment that has waited
// in PROGRESS for the longest time, now COMPLETE.
func (s *Server) poll(c *call) ([]byte, *Error) {
	token, problem := c.token()
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.application(token)
	if problem != nil {
		return nil, problem
	}
	p := app.pop()
	if p == nil {
		return nil, &Error{Code: CodeNoProcessedPayment, Message: "no payment is waiting in PROGRESS; ask again in 3 to 5 seconds"}
	}
	return s.complete(p), nil
}

// confirm answers POST /payments/confirm (interface §4.3). It completes a payment
// in PROGRESS, and returns the same record again for one that is COMPLETE: a
// client whose answer was lost may simply repeat the call.
func (s *Server) confirm(c *call) ([]byte, *Error) {
	token, id, problem := readPayTokenBody(c.body)
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
	switch p.Status {
	case StatusProgress:
		return s.complete(p), nil
	case StatusComplete:
		return p.appendRecord(make([]byte, 0, p.recordSize())), nil
	default:
		return nil, &Error{Code: CodePaymentNotPaid, Message: "nobody has paid this payment yet; " +
			"confirm it after its webhook has come"}
	}
}

// complete finishes a payment in PROGRESS and renders its record.
func (s *Server) complete(p *payment) []byte {
	p.Status, p.VerifiedAt = StatusComplete, s.clock.now()
	return p.appendRecord(make([]byte, 0, p.recordSize()))
}

// readPayTokenBody reads the body of confirm and resend.
func readPayTokenBody(body []byte) (token, id string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return "", "", problem
	}
	if token, problem = o.required("token", "token"); problem != nil {
		return "", "", problem
	}
	id, problem = o.required("payToken", "payToken")
	return token, id, problem
}
