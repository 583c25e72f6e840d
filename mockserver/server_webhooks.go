package mockserver

// SetWebhook sets the webhook URI of the application that has the token; an empty
// address removes it. The address is http:// or https:// and names a loopback
// host, unless [Config.AllowRemote] is set. It counts for payments that reach
// PROGRESS, and for resends, from now on; a run of attempts under way keeps its
// address. The error is an [*Error].
func (s *Server) SetWebhook(token, address string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return asError(s.apps.setWebhook(token, address))
}

// Deliveries returns a copy of every webhook delivery, in the order of creation.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Delivery, len(s.sender.deliveries))
	for i, d := range s.sender.deliveries {
		list[i] = d.export()
	}
	return list
}

// DeliverNow sends the webhook attempt that waits for its time at once, without
// moving the clock and without waiting for its end, for which Advance(0) does. The
// next one waits as long as ever after this one has failed. For a payment that is
// COMPLETE the delivery is marked delivered and nothing is sent (interface §6.5).
// The error is an [*Error]: [CodePaymentNotFound], [CodeNoAttemptWaiting] or
// [CodeServerClosed].
func (s *Server) DeliverNow(payToken string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers.closed {
		return serverClosed()
	}
	p, problem := s.book.find(payToken)
	if problem == nil {
		problem = s.sender.retryNow(p)
	}
	return asError(problem)
}

// Resend sends the webhook of a payment of any application again, as POST
// /callback/webhook/resend does (interface §4.7): ten attempts again, or none at all
// when the payment is COMPLETE. The error is an [*Error]: [CodePaymentNotFound],
// [CodePaymentNotPaid], [CodeWebhookNotFound], [CodeStorageFull] or
// [CodeServerClosed].
func (s *Server) Resend(payToken string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.book.find(payToken)
	if problem == nil {
		problem = s.sender.resend(p)
	}
	return asError(problem)
}
