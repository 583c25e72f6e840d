package mockserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/depositpay/depositpay-go/mockserver/internal/redact"
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
// refused one may be a live one.
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
	cfg *Config
	// waiting holds payments in the order in which they reached PROGRESS. One
	// that a confirmation has completed meanwhile stays until a poll meets it.
	waiting []*payment
	head    int
}

// push adds a payment that has reached PROGRESS to the queue of the poll.
func (a *application) push(p *payment) {
	// The polled half is freed before the slice grows over it.
	if a.head > 1024 && a.head > len(a.waiting)/2 {
		n := copy(a.waiting, a.waiting[a.head:])
		clear(a.waiting[n:])
		a.waiting, a.head = a.waiting[:n], 0
	}
	a.waiting = append(a.waiting, p)
}

// pop takes the payment that has been in PROGRESS for the longest time.
func (a *application) pop() *payment {
	for a.head < len(a.waiting) {
		p := a.waiting[a.head]
		a.waiting[a.head] = nil
		a.head++
		if p.Status == StatusProgress {
			return p
		}
	}
	a.waiting, a.head = a.waiting[:0], 0
	return nil
}

// directory holds the applications. It is guarded by Server.mu, except for the dialects.
type directory struct {
	cfg     *Config
	changes *changes
	tokens  *redact.Tokens // learns every token

	byToken map[string]*application
	list    []*application // in the order of creation

	// dialects are the dialects of the applications by token, "" for a request that names
	// none; nil while all are the default, so no request pays for a lookup. The map is
	// never changed, only replaced.
	dialects atomic.Pointer[map[string]Dialect]
}

// find returns the application of a token.
func (d *directory) find(token string) (*application, *Error) {
	if app := d.byToken[token]; app != nil {
		return app, nil
	}
	return nil, &Error{Code: CodeInvalidToken, Message: "no application has this token; " +
		"send the token of one of the mock's applications"}
}

// findNamed returns the application of a name; "" is the first.
func (d *directory) findNamed(name string) (*application, *Error) {
	if name == "" {
		return d.list[0], nil
	}
	if app := d.named(name); app != nil {
		return app, nil
	}
	return nil, invalidParameter("application", "is not the name of an application; see GET /_mock/applications")
}

func (d *directory) named(name string) *application {
	for _, app := range d.list {
		if app.Name == name {
			return app
		}
	}
	return nil
}

// save is [Server.SaveApplication]; it returns the application as saved.
func (d *directory) save(a Application) (Application, *Error) {
	a.GameField = cmp.Or(a.GameField, DefaultGameField)
	a.Name = strings.TrimSpace(a.Name)
	app := d.byToken[a.Token]
	if app == nil && len(d.list) >= maxApplications {
		return a, storageFull("the mock keeps at most %d applications; start another one", maxApplications)
	}
	if a.Name == "" && app != nil {
		a.Name = app.Name
	}
	if a.Name == "" {
		a.Name = d.freeName()
	}
	if problem := a.check(d.cfg.AllowRemote); problem != nil {
		return a, problem
	}
	if other := d.named(a.Name); other != nil && other != app {
		return a, invalidParameter("name", "is the name of another application; choose another one")
	}
	if app == nil {
		app = &application{cfg: d.cfg}
		d.byToken[a.Token] = app
		d.list = append(d.list, app)
		d.tokens.Know(a.Token)
	}
	app.Application = a
	d.publishDialects()
	d.changes.note()
	return a, nil
}

// defaultName is how the name of an application without a name begins.
const defaultName = "Application "

func (d *directory) freeName() string {
	for n := len(d.list) + 1; ; n++ {
		if name := fmt.Sprint(defaultName, n); d.named(name) == nil {
			return name
		}
	}
}

// setWebhook is [Server.SetWebhook].
func (d *directory) setWebhook(token, address string) *Error {
	if address != "" {
		if err := checkWebhookURL(address, d.cfg.AllowRemote); err != nil {
			return invalidParameter("url", err.Error())
		}
	}
	app, problem := d.find(token)
	if problem == nil {
		app.WebhookURL = address
		d.changes.note()
	}
	return problem
}

// setDialect is [Server.SetDialect].
func (d *directory) setDialect(token string, dialect Dialect) *Error {
	app, problem := d.find(token)
	if problem == nil {
		app.Dialect = dialect
		d.publishDialects()
	}
	return problem
}

func (d *directory) publishDialects() {
	var spoken map[string]Dialect
	for token, app := range d.byToken {
		if app.Dialect == (Dialect{}) {
			continue
		}
		if spoken == nil {
			spoken = map[string]Dialect{}
		}
		spoken[token] = app.Dialect
		if app == d.list[0] {
			spoken[""] = app.Dialect
		}
	}
	if spoken == nil {
		d.dialects.Store(nil)
		return
	}
	d.dialects.Store(&spoken)
}
