package mockserver

// Account is the account that the checkout page shows, the same for all payments.
func (s *Server) Account() Account { return s.cfg.Account }

// Payments returns a copy of every payment of every application, in the order of
// creation.
func (s *Server) Payments() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire()
	list := make([]Payment, len(s.book.list))
	for i, p := range s.book.list {
		list[i] = p.export()
	}
	return list
}

// Payment returns a copy of one payment of any application. It is false when
// none has this payToken.
func (s *Server) Payment(payToken string) (Payment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := exported(s.book.find(payToken))
	return p, err == nil
}

// exported is a payment as a method returns it.
func exported(p *payment, problem *Error) (Payment, error) {
	if problem != nil {
		return Payment{}, problem
	}
	return p.export(), nil
}

// GivePayer is what the customer enters on the checkout page (interface §1.2): the
// name that the bank will show for the deposit, and the amount when the payment
// has no fixed price. The payment goes from CREATED to WAITING; while it waits,
// another call corrects both.
//
// The name has 1 to 40 characters, without control characters; spaces around it
// are cut off. The amount is at least 1, and it must be 0 for a payment with a
// fixed price. The error is an [*Error]: [CodePaymentNotFound],
// [CodeInvalidParameter], [CodePaymentAlreadyPaid], [CodePaymentExpired],
// [CodeStorageFull] or [CodeServerClosed].
func (s *Server) GivePayer(payToken, payer string, amount int64) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exported(s.book.givePayer(payToken, payer, amount))
}

// Deposit recognizes a deposit for the payment, as the mobile app would do it
// (interface §3): the payment goes to PROGRESS and, when its application has a
// webhook URI, the webhook is sent at once, without the call waiting for it. The
// error is an [*Error]: [CodePaymentNotFound], [CodePaymentAlreadyPaid],
// [CodePaymentExpired], [CodeInvalidParameter], [CodeStorageFull] or
// [CodeServerClosed].
func (s *Server) Deposit(payToken string, d Deposit) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exported(s.book.recognize(payToken, d.input()))
}

// Timeline returns what happened to a payment, oldest first. At most 200 entries are
// kept: the first 100 and the last 99, with an [EventCut] between them that says how
// many are missing. The error is an [*Error]: [CodePaymentNotFound].
func (s *Server) Timeline(payToken string) ([]Event, error) {
	s.mu.Lock()
	p, problem := s.book.find(payToken)
	if problem != nil {
		s.mu.Unlock()
		return nil, problem
	}
	events := p.events()
	s.mu.Unlock()
	for i := range events {
		events[i].Text = s.log.redact(events[i].Text)
	}
	return events, nil
}
