package mockserver

// emptyPoll is the most frequent answer of all, so it is made ahead; nobody changes it.
var (
	emptyPoll     = &Error{Code: CodeNoProcessedPayment, Message: "no payment is waiting in PROGRESS; ask again in 3 to 5 seconds"}
	emptyPollJSON = emptyPoll.appendJSON(nil)
)

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
		return nil, emptyPoll
	}
	p.Status = StatusComplete
	s.handOut(p, EventPolled, "completed by GET /callback/rest")
	return p.appendRecord(make([]byte, 0, p.recordSize())), nil
}

// confirm answers POST /payments/confirm (interface §4.3). It completes a payment
// in PROGRESS, unless [Config.ConfirmKeepsState] is set, and returns the same
// record again later on: a client whose answer was lost may simply repeat the
// call.
func (s *Server) confirm(c *call) ([]byte, *Error) {
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
	if problem != nil {
		return nil, problem
	}
	switch {
	case p.Status != StatusProgress && p.Status != StatusComplete:
		return nil, notPaid(p, "confirm it after its webhook has come")
	case !p.VerifiedAt.IsZero():
		s.record(p, EventConfirmed, "returned again by POST /payments/confirm")
	default:
		s.handOut(p, EventConfirmed, "returned as COMPLETE by POST /payments/confirm")
	}
	if !s.cfg.ConfirmKeepsState {
		p.Status = StatusComplete
	}
	return p.appendRecordAs(make([]byte, 0, p.recordSize()), StatusComplete), nil
}

// handOut notes that the record of a payment is returned as newly completed. The
// time of the first verification stays, so that the record is the same wherever it
// comes from.
func (s *Server) handOut(p *payment, kind EventKind, text string) {
	now := s.clock.now()
	p.Completions++
	if p.VerifiedAt.IsZero() {
		p.VerifiedAt = now
	}
	s.recordAt(now, p, kind, text)
}

func notPaid(p *payment, advice string) *Error {
	message := "nobody has paid this payment yet; " + advice
	if p.Status == StatusExpired {
		message = "nobody has paid this payment, and it has expired; create another one"
		if p.app.server.cfg.LateDeposit {
			message += ", or " + advice
		}
	}
	return &Error{Code: CodePaymentNotPaid, Message: message}
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
