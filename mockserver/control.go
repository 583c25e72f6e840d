package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// controlRoot is where the control API begins. It is no part of the service: a
// test in another process, or a person with curl, plays the payer and the clock
// with it. Its errors have the shape of the service's, with a 4xx status.
const controlRoot = "/_mock"

// maxControlAdvance keeps a slip of the hand from using up the clock.
const maxControlAdvance = 10 * 365 * 24 * time.Hour

var controlRoutes = map[string]endpoint{
	controlRoot + "/webhook":       {http.MethodPut, (*Server).controlWebhook},
	controlRoot + "/payments":      {http.MethodGet, (*Server).controlPayments},
	controlRoot + "/deliveries":    {http.MethodGet, (*Server).controlDeliveries},
	controlRoot + "/requests":      {http.MethodGet, (*Server).controlRequests},
	controlRoot + "/clock/advance": {http.MethodPost, (*Server).controlAdvance},
	controlRoot + "/clock/next":    {http.MethodPost, (*Server).controlNext},
}

var controlDepositRoute = endpoint{http.MethodPost, (*Server).controlDeposit}

func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	answer, problem := s.answerControl(&call{Request: r})
	if problem != nil {
		writeJSON(w, problem.Code.httpStatus(), problem.appendJSON(nil))
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) answerControl(c *call) (answer []byte, problem *Error) {
	c.body, problem = readBody(c.Request)
	if problem != nil {
		return nil, problem
	}
	e, ok := controlRoutes[c.URL.Path]
	if _, isDeposit := depositPath(c.URL.Path); isDeposit {
		e, ok = controlDepositRoute, true
	}
	if !ok {
		return nil, &Error{Code: CodeNotFound, Message: "the control API has no such path"}
	}
	if c.Method != e.method {
		return nil, wrongMethod(e.method)
	}
	return e.serve(s, c)
}

// depositPath takes the payToken out of /_mock/payments/{payToken}/deposit.
func depositPath(path string) (payToken string, ok bool) {
	rest, begins := strings.CutPrefix(path, controlRoot+"/payments/")
	payToken, ends := strings.CutSuffix(rest, "/deposit")
	return payToken, begins && ends && !strings.Contains(payToken, "/")
}

// controlDeposit recognises a deposit and answers the record. Its body is
// {"payer","amount","method"}, each optional, and may be left out altogether.
func (s *Server) controlDeposit(c *call) ([]byte, *Error) {
	in, problem := readDeposit(c.body)
	if problem != nil {
		return nil, problem
	}
	id, _ := depositPath(c.URL.Path)
	var record []byte
	_, problem = s.recognise(id, in, func(p *payment) { record = p.appendRecord(nil) })
	return record, problem
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

// controlWebhook sets the webhook URI of an application: {"token","url"}, where an
// empty url removes it. It answers {"url":"…"}.
func (s *Server) controlWebhook(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	token, problem := o.required("token", "token")
	if problem != nil {
		return nil, problem
	}
	if _, present := o.get("url"); !present {
		return nil, invalidParameter("url", "is required: send the address, or an empty text to remove it")
	}
	address, problem := o.text("url", "url")
	if problem == nil {
		problem = s.setWebhook(token, address)
	}
	return append(appendString([]byte(`{"url":`), address), '}'), problem
}

// controlPayments answers {"payments":[record, …]} in the order of creation.
func (s *Server) controlPayments(*call) ([]byte, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := []byte(`{"payments":[`)
	for i, p := range s.order {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendRecord(b)
	}
	return append(b, "]}"...), nil
}

// controlAdvance moves the clock by {"duration":"5m"} and answers {"now":"…"} once
// the attempts on the way have ended.
func (s *Server) controlAdvance(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	text, problem := o.required("duration", "duration")
	if problem != nil {
		return nil, problem
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxControlAdvance {
		return nil, invalidParameter("duration", fmt.Sprintf(
			`must be a length of time from "0s" to "%.0fh", as in "90s", "5m" or "2h30m"`, maxControlAdvance.Hours()))
	}
	if problem := s.whileOpen(c.Context(), func(ctx context.Context) error { return s.advance(ctx, d) }); problem != nil {
		return nil, problem
	}
	return marshal(clockJSON{Now: formatTime(s.Now())}), nil
}

// controlNext moves the clock to the next webhook attempt. It answers {"now":"…"}
// and, when there was one, "attempt".
func (s *Server) controlNext(c *call) ([]byte, *Error) {
	var out clockJSON
	problem := s.whileOpen(c.Context(), func(ctx context.Context) error {
		if a, ok := s.jump(ctx); ok {
			attempt := s.attemptJSON(a)
			out.Attempt = &attempt
		}
		return ctx.Err()
	})
	if problem != nil {
		return nil, problem
	}
	out.Now = formatTime(s.Now())
	return marshal(out), nil
}

// whileOpen runs a move of the clock that ends early when its caller goes away.
func (s *Server) whileOpen(ctx context.Context, move func(context.Context) error) *Error {
	if err := move(ctx); err != nil || s.isClosed() {
		return serverClosed()
	}
	return nil
}
