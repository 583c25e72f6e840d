package mockserver

import (
	"fmt"
	"log/slog"
	"strings"
)

// DefaultGameField is the field of metadata that carries the product of a
// game-store payment, where the application names no other (interface §1.5).
const DefaultGameField = "game_product"

// maxApplications also bounds what the request log has to look for.
const maxApplications = 100

// Application is one client of the service (interface §5.1). It sees only its own
// payments. Printed with package fmt or logged with log/slog it shows no token.
type Application struct {
	// Name is what people call the application: pages, products and
	// [Payment.Application] name it so. It is unique, at most 40 characters, and
	// must not hold the token. Default: "Application 1" and so on.
	Name string
	// Token is the application API token, by which the server knows the
	// application. It begins with "test_" and is made of letters, digits and
	// "-._~", because clients in the field put it into the query string
	// unescaped. In [Config.Applications] the default is [DefaultToken].
	Token string
	// WebhookURL is where the webhooks go; see [Server.SetWebhook] for the
	// rules. Default: none, nothing is sent.
	WebhookURL string
	// GameField is the field of metadata that carries the product id of a
	// game-store payment: live deployments call it after their brand. It is made
	// of up to 64 letters, digits and "_", and is not "items". It counts for
	// payments made from then on. Default: [DefaultGameField].
	GameField string
	// Dialect is how the service words its answers to this application.
	// Default: that of live deployments.
	Dialect Dialect
}

// Format prints the application without its token, whatever the verb.
func (a Application) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "application %q", a.Name)
}

// LogValue is the application without its token, for log/slog.
func (a Application) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(a)) }

// check names the field that is wrong and says why. It never repeats a token: the
// one that is refused may be a live one.
func (a Application) check(allowRemote bool) *Error {
	if err := checkToken(a.Token); err != nil {
		return invalidParameter("token", "is refused: "+err.Error())
	}
	if _, err := checkName(a.Name, maxNameLength); err != nil {
		return invalidParameter("name", err.Error())
	}
	if strings.Contains(a.Name, a.Token) {
		return invalidParameter("name", "must not hold the token: names are shown to everybody")
	}
	if a.WebhookURL != "" {
		if err := checkWebhookURL(a.WebhookURL, allowRemote); err != nil {
			return invalidParameter("webhook_url", err.Error())
		}
	}
	if a.GameField == itemsField || !validGameField(a.GameField) {
		return invalidParameter("game_field", `must be up to 64 letters, digits or "_", and not "items"`)
	}
	return nil
}

// application is the stored form, guarded by Server.mu. Applications are never
// removed.
type application struct {
	Application
	server *Server
	// waiting holds payments in the order in which they reached PROGRESS. One
	// that a confirmation has completed meanwhile stays until a poll meets it.
	waiting []*payment
	head    int
}

// Applications returns a copy of every application, those of
// [Config.Applications] first, with their tokens.
func (s *Server) Applications() []Application {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Application, len(s.appOrder))
	for i, app := range s.appOrder {
		list[i] = app.Application
	}
	return list
}

// SaveApplication makes an application, or replaces the settings of the one that
// has the same Token. An empty Name keeps the present one; every other empty field
// takes its default. At most 100 applications are kept. The error is an [*Error]:
// [CodeInvalidParameter] or [CodeStorageFull].
func (s *Server) SaveApplication(a Application) error {
	if _, problem := s.saveApplication(a); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) saveApplication(a Application) (Application, *Error) {
	setDefault(&a.GameField, DefaultGameField)
	a.Name = strings.TrimSpace(a.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	app := s.apps[a.Token]
	if app == nil && len(s.appOrder) >= maxApplications {
		return a, &Error{Code: CodeStorageFull, Message: fmt.Sprintf("the mock keeps at most %d applications; start another one", maxApplications)}
	}
	if a.Name == "" && app != nil {
		a.Name = app.Name
	}
	setDefault(&a.Name, s.freeName())
	if problem := a.check(s.cfg.AllowRemote); problem != nil {
		return a, problem
	}
	if other := s.applicationNamed(a.Name); other != nil && other != app {
		return a, invalidParameter("name", "is the name of another application; choose another one")
	}
	if app == nil {
		app = &application{server: s}
		s.apps[a.Token] = app
		s.appOrder = append(s.appOrder, app)
		s.log.tokens.Know(a.Token)
	}
	app.Application = a
	s.publishDialects()
	s.changed()
	return a, nil
}

// defaultName is what the name of such an application begins with.
const defaultName = "Application "

// freeName is the name of an application that nobody has named.
func (s *Server) freeName() string {
	for n := len(s.appOrder) + 1; ; n++ {
		if name := fmt.Sprint(defaultName, n); s.applicationNamed(name) == nil {
			return name
		}
	}
}

func (s *Server) applicationNamed(name string) *application {
	for _, app := range s.appOrder {
		if app.Name == name {
			return app
		}
	}
	return nil
}

// applicationOrFirst finds an application by its name; "" stands for the first.
func (s *Server) applicationOrFirst(name string) (*application, *Error) {
	if name == "" {
		return s.appOrder[0], nil
	}
	if app := s.applicationNamed(name); app != nil {
		return app, nil
	}
	return nil, invalidParameter("application", "is not the name of an application; see GET /_mock/applications")
}
