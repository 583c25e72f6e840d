package mockserver

import "encoding/json"

func (c control) servePayment(r *call) (any, *Error) { return c.payment(r.PathValue("payToken")) }
func (c control) serveRecord(r *call) (any, *Error)  { return c.record(r.PathValue("payToken")) }
func (c control) serveAccount(*call) (any, *Error)   { return accountView(c.s.Account()), nil }
func (c control) serveTimeline(r *call) (any, *Error) {
	events, problem := c.timeline(r.PathValue("payToken"))
	return listed("events", events, 0), problem
}

func (c control) serveDelivery(r *call) (any, *Error) {
	d, ok, problem := c.delivery(r.PathValue("payToken"))
	if problem == nil && !ok {
		problem = &Error{Code: CodeWebhookNotFound, Message: "no webhook was sent for this payment: " +
			"it is not in PROGRESS yet, or no webhook URI was configured when it was"}
	}
	return d, problem
}

// givePayer is the customer on the checkout page: {"payer","amount"}, the amount only for
// a payment without a fixed price. It answers the payment.
func (c control) givePayer(r *call) (any, *Error) {
	f := r.fields()
	payer := f.required("payer")
	amount, _ := f.whole("amount", 1)
	if f.problem != nil {
		return nil, f.problem
	}
	p, problem := asProblem(c.s.GivePayer(r.PathValue("payToken"), payer, amount))
	return viewPayment(p), problem
}

// deposit recognizes a deposit and answers the record. The body is
// {"payer","amount","method"}; each field, and the body, may be left out.
func (c control) deposit(r *call) (any, *Error) {
	f := r.optional()
	in := depositInput{payer: f.text("payer"), method: f.text("method")}
	if amount, given := f.whole("amount", 0); given {
		in.amount = &amount
	}
	if f.problem != nil {
		return nil, f.problem
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return recordOf(c.s.book.recognize(r.PathValue("payToken"), in))
}

// deliver sends the waiting webhook attempt at once.
func (c control) deliver(r *call) (any, *Error) {
	return done{}, problemIn(c.s.DeliverNow(r.PathValue("payToken")))
}

// resend is POST /callback/webhook/resend without a token.
func (c control) resend(r *call) (any, *Error) {
	return done{}, problemIn(c.s.Resend(r.PathValue("payToken")))
}

// sendNotification plays the bank and the phone and answers the notification. With
// {"package","payer","amount"} the bank words the deposit; with {"package","title",
// "subtitle","text"} the caller does.
func (c control) sendNotification(r *call) (any, *Error) {
	f := r.fields()
	n := Notification{Package: f.required("package"), Title: f.text("title"), Subtitle: f.text("subtitle"), Text: f.text("text")}
	payer := f.text("payer")
	amount, _ := f.whole("amount", 1)
	if f.problem != nil {
		return nil, f.problem
	}
	var err error
	if payer != "" || amount != 0 {
		n, err = c.s.SendNotification(n.Package, payer, amount)
	} else {
		n, err = playPhone(c.s, n)
	}
	if err != nil {
		return nil, problemOf(err)
	}
	if n.ID == "" {
		return map[string]string{"result": "IGNORED"}, nil
	}
	return c.notification(n), nil
}

// resolve gives an unmatched deposit to a payment and answers its record. The body is
// {"payToken","amount"}, the amount only if that of the notification cannot be read.
func (c control) resolve(r *call) (any, *Error) {
	f := r.fields()
	payToken := f.required("payToken")
	amount, _ := f.whole("amount", 1)
	if f.problem != nil {
		return nil, f.problem
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return recordOf(c.s.phone.resolve(r.PathValue("id"), payToken, amount))
}

// recordOf is the record of a payment that was changed. The caller holds Server.mu.
func recordOf(p *payment, problem *Error) (any, *Error) {
	if problem != nil {
		return nil, problem
	}
	return json.RawMessage(p.appendRecord(nil)), nil
}

// dismiss removes an unmatched deposit from the list.
func (c control) dismiss(r *call) (any, *Error) {
	id := r.PathValue("id")
	return map[string]string{"result": string(ResultDismissed), "deposit_id": id}, problemIn(c.s.DismissUnmatched(id))
}
