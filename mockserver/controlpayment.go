package mockserver

// paymentJSON is a Payment on the control API. Its status is that of the constants,
// whatever Config.StatusNames make of it in records.
type paymentJSON struct {
	ID          string     `json:"id"`
	Application string     `json:"application"`
	Identifier  string     `json:"identifier"`
	Title       string     `json:"title"`
	Icon        string     `json:"icon,omitempty"`
	Items       []itemJSON `json:"items,omitempty"`
	GameProduct string     `json:"game_product,omitempty"`
	Status      Status     `json:"status"`
	Amount      int64      `json:"amount,omitempty"`
	Payer       string     `json:"payer,omitempty"`
	PayerAmount int64      `json:"payer_amount,omitempty"`
	Method      string     `json:"method,omitempty"`
	PaidAmount  int64      `json:"paid_amount"`
	Completions int        `json:"completions"`
	CreatedTS   string     `json:"created_ts"`
	ExpiresTS   string     `json:"expires_ts,omitempty"`
	DepositedTS string     `json:"deposited_ts,omitempty"`
	VerifiedTS  string     `json:"verified_ts,omitempty"`
}

type itemJSON struct {
	Name  string `json:"name"`
	Price int64  `json:"price"`
	Count int64  `json:"count"`
	Icon  string `json:"icon,omitempty"`
}

type eventJSON struct {
	TS   string    `json:"ts"`
	Kind EventKind `json:"kind"`
	Text string    `json:"text"`
}

func renderPayment(p Payment) []byte {
	out := paymentJSON{
		ID: p.ID, Application: p.Application, Identifier: p.Identifier, Title: p.Title, Icon: p.Icon,
		GameProduct: p.GameProduct, Status: p.Status, Amount: p.Amount, Payer: p.Payer, PayerAmount: p.PayerAmount,
		Method: p.Method, PaidAmount: p.PaidAmount, Completions: p.Completions,
		CreatedTS: formatTime(p.CreatedAt), ExpiresTS: formatTime(p.ExpiresAt),
		DepositedTS: formatTime(p.DepositedAt), VerifiedTS: formatTime(p.VerifiedAt),
	}
	for _, i := range p.Items {
		out.Items = append(out.Items, itemJSON(i))
	}
	return marshal(out)
}

// controlPayment answers all that is known of one payment.
func (s *Server) controlPayment(c *call) ([]byte, *Error) {
	p, ok := s.Payment(c.PathValue("payToken"))
	if !ok {
		return nil, paymentNotFound()
	}
	return renderPayment(p), nil
}

// controlTimeline answers {"events":[{"ts","kind","text"}, …]}, oldest first.
func (s *Server) controlTimeline(c *call) ([]byte, *Error) {
	events, problem := asProblem(s.Timeline(c.PathValue("payToken")))
	if problem != nil {
		return nil, problem
	}
	list := make([]eventJSON, len(events))
	for i, e := range events {
		list[i] = eventJSON{TS: formatTime(e.At), Kind: e.Kind, Text: e.Text}
	}
	return marshal(map[string]any{"events": list}), nil
}

// controlPayer is the customer on the checkout page: {"payer","amount"}, the amount
// only for a payment without a fixed price. It answers the payment.
func (s *Server) controlPayer(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	payer, problem := o.required("payer", "payer")
	if problem != nil {
		return nil, problem
	}
	amount, _, problem := o.whole("amount", "amount", 1)
	if problem != nil {
		return nil, problem
	}
	p, problem := asProblem(s.GivePayer(c.PathValue("payToken"), payer, amount))
	if problem != nil {
		return nil, problem
	}
	return renderPayment(p), nil
}

// controlDeliver sends the waiting webhook attempt at once and answers {}.
func (s *Server) controlDeliver(c *call) ([]byte, *Error) {
	return []byte("{}"), problemIn(s.DeliverNow(c.PathValue("payToken")))
}

// controlResend is POST /callback/webhook/resend without a token; it answers {}.
func (s *Server) controlResend(c *call) ([]byte, *Error) {
	return []byte("{}"), problemIn(s.Resend(c.PathValue("payToken")))
}

// controlDeposit recognises a deposit and answers the record. Its body is
// {"payer","amount","method"}, each optional, and may be left out altogether.
func (s *Server) controlDeposit(c *call) ([]byte, *Error) {
	in, problem := readDeposit(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.book.recognize(c.PathValue("payToken"), in)
	if problem != nil {
		return nil, problem
	}
	return p.appendRecord(nil), nil
}

func readDeposit(body []byte) (in depositInput, problem *Error) {
	if len(body) == 0 {
		return in, nil
	}
	o, problem := parseObject(body)
	if problem != nil {
		return in, problem
	}
	if in.payer, problem = o.text("payer", "payer"); problem != nil {
		return in, problem
	}
	if in.method, problem = o.text("method", "method"); problem != nil {
		return in, problem
	}
	amount, present, problem := o.whole("amount", "amount", 0)
	if present {
		in.amount = &amount
	}
	return in, problem
}

// controlPayments answers {"payments":[record, …]} in the order of creation.
func (s *Server) controlPayments(*call) ([]byte, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire()
	b := []byte(`{"payments":[`)
	for i, p := range s.book.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendRecord(b)
	}
	return append(b, "]}"...), nil
}
