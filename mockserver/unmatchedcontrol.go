package mockserver

type unmatchedJSON struct {
	DepositID  string          `json:"deposit_id"`
	Reason     UnmatchedReason `json:"reason"`
	Payer      string          `json:"payer,omitempty"`
	Amount     int64           `json:"amount,omitempty"`
	Candidates []string        `json:"candidates"`
	Package    string          `json:"package"`
	Title      string          `json:"title"`
	Subtitle   string          `json:"subtitle"`
	Text       string          `json:"text"`
	ReceivedTS string          `json:"received_ts"`
}

// controlUnmatched answers {"unmatched":[…],"dropped":0}, oldest first. dropped is
// how many were forgotten at the cap.
func (s *Server) controlUnmatched(*call) ([]byte, *Error) {
	list := []unmatchedJSON{}
	for _, u := range s.Unmatched() {
		n := u.Notification
		list = append(list, unmatchedJSON{
			DepositID: n.ID, Reason: u.Reason, Payer: u.Payer, Amount: u.Amount, Candidates: append([]string{}, u.Candidates...),
			Package: n.Package, Title: n.Title, Subtitle: n.Subtitle, Text: n.Text, ReceivedTS: formatTime(n.ReceivedAt),
		})
	}
	s.mu.Lock()
	dropped := s.phone.dropped
	s.mu.Unlock()
	return marshal(map[string]any{"unmatched": list, "dropped": dropped}), nil
}

// controlResolve gives an unmatched deposit to a payment and answers its record.
// The body is {"payToken","amount"}, the amount only where the notification's is not
// readable.
func (s *Server) controlResolve(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	payToken, problem := o.required("payToken", "payToken")
	if problem != nil {
		return nil, problem
	}
	amount, _, problem := o.whole("amount", "amount", 1)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.phone.resolve(c.PathValue("id"), payToken, amount)
	if problem != nil {
		return nil, problem
	}
	return p.appendRecord(nil), nil
}

// controlDismiss takes an unmatched deposit off the list and answers
// {"deposit_id":"…","result":"DISMISSED"}.
func (s *Server) controlDismiss(c *call) ([]byte, *Error) {
	id := c.PathValue("id")
	return marshal(map[string]string{"result": string(ResultDismissed), "deposit_id": id}), problemIn(s.DismissUnmatched(id))
}
