package mockserver

import (
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashApplications is the list of applications; ?edit= with a number opens the form
// of one. A token never stands in an address.
func (s *Server) dashApplications(c *dashCall) (any, *Error) {
	var view web.DashApplications
	for i, a := range s.Applications() {
		view.Rows = append(view.Rows, web.DashApplication{
			Number: i + 1, Name: a.Name, Token: a.Token, WebhookURL: s.log.redact(a.WebhookURL),
			GameField: s.log.redact(a.GameField), Dialect: a.Dialect.String(),
		})
	}
	edited, dialect := c.param("edit"), Dialect{}
	if n, a, ok := s.applicationNumber(edited); ok {
		dialect = a.Dialect
		view.Edit = web.DashApplication{
			Number: n, Name: a.Name, WebhookURL: s.log.hideKnown(a.WebhookURL), GameField: s.log.hideKnown(a.GameField),
		}
	}
	for i, o := range DialectOptions() {
		view.Options = append(view.Options, web.DashOption{Name: o.Name, Chosen: o.Values[dialect.choice[i]], Values: o.Values})
	}
	return view, nil
}

// applicationNumber finds an application by its place, from 1: none is ever removed.
func (s *Server) applicationNumber(text string) (int, Application, bool) {
	n, err := strconv.Atoi(text)
	list := s.Applications()
	if err != nil || n < 1 || n > len(list) {
		return 0, Application{}, false
	}
	return n, list[n-1], true
}

// doApplication saves an application: the one with the number, whose token stays, or
// a new one with the token that was typed.
func (s *Server) doApplication(c *dashCall) (dashDone, *Error) {
	a, old := Application{Token: c.value("token")}, Application{}
	if c.id != "" {
		var ok bool
		if _, old, ok = s.applicationNumber(c.id); !ok {
			return dashDone{}, &Error{Code: CodeNotFound, Message: "there is no application with this number; look at the list"}
		}
		a.Token = old.Token
	}
	a.Name = c.value("name")
	a.WebhookURL = s.log.keepHidden(c.value("webhook_url"), old.WebhookURL)
	a.GameField = s.log.keepHidden(c.value("game_field"), old.GameField)
	var words []string
	for _, o := range DialectOptions() {
		if value := c.value("dialect_" + o.Name); value != "" {
			words = append(words, o.Name+"="+value)
		}
	}
	var err error
	if a.Dialect, err = ParseDialect(strings.Join(words, ",")); err != nil {
		return dashDone{}, invalidParameter("dialect", "cannot be read: "+err.Error())
	}
	if c.id == "" && s.knowsToken(a.Token) {
		return dashDone{}, invalidParameter("token", "belongs to an application already: edit that one, or choose another token")
	}
	_, problem := saveApplication(s, a)
	return dashDone{to: "ui/applications", said: "application"}, problem
}

func (s *Server) knowsToken(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apps.byToken[token] != nil
}
