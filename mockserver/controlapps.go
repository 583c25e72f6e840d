package mockserver

import "github.com/depositpay/depositpay-go/mockserver/internal/strictjson"

// applicationJSON is an Application on the control API, without its token: anyone who
// asks knows it, or must not.
type applicationJSON struct {
	Name       string  `json:"name"`
	WebhookURL string  `json:"webhook_url"`
	GameField  string  `json:"game_field"`
	Dialect    Dialect `json:"dialect"`
}

func (s *Server) applicationJSON(a Application) applicationJSON {
	return applicationJSON{Name: a.Name, WebhookURL: s.log.redact(a.WebhookURL), GameField: a.GameField, Dialect: a.Dialect}
}

// controlApplications answers {"applications":[…]}.
func (s *Server) controlApplications(*call) ([]byte, *Error) {
	list := []applicationJSON{}
	for _, a := range s.Applications() {
		list = append(list, s.applicationJSON(a))
	}
	return marshal(map[string]any{"applications": list}), nil
}

// controlSaveApplication saves {"token","name","webhook_url","game_field","dialect"},
// of which all but the token may be left out, and answers the application as saved.
func (s *Server) controlSaveApplication(c *call) ([]byte, *Error) {
	var a Application
	var dialect string
	o, problem := parseObject(c.body)
	if problem == nil {
		problem = o.texts(textField{"token", &a.Token}, textField{"name", &a.Name}, textField{"webhook_url", &a.WebhookURL},
			textField{"game_field", &a.GameField}, textField{"dialect", &dialect})
	}
	if problem != nil {
		return nil, problem
	}
	var err error
	if a.Dialect, err = ParseDialect(dialect); err != nil {
		return nil, invalidParameter("dialect", "cannot be read: "+err.Error())
	}
	if a, problem = saveApplication(s, a); problem != nil {
		return nil, problem
	}
	return marshal(s.applicationJSON(a)), nil
}

func saveApplication(s *Server, a Application) (Application, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apps.save(a)
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
	if _, present := o.Get("url"); !present {
		return nil, invalidParameter("url", "is required: send the address, or an empty text to remove it")
	}
	address, problem := o.text("url", "url")
	if problem == nil {
		problem = problemIn(s.SetWebhook(token, address))
	}
	return append(strictjson.AppendString([]byte(`{"url":`), address), '}'), problem
}
