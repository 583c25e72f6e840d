package mockserver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func (c control) serveSummary(*call) (any, *Error) { return c.summary(0), nil }

func (c control) serveClock(*call) (any, *Error) { return c.clock(), nil }

// serveReset forgets everything or, given {"application"}, what belongs to that one.
func (c control) serveReset(r *call) (any, *Error) {
	f := r.optional()
	var names []string
	if name := f.text("application"); name != "" {
		names = append(names, name)
	}
	if f.problem != nil {
		return nil, f.problem
	}
	return done{}, problemIn(c.s.Reset(names...))
}

func (c control) viewApplication(a Application) applicationView {
	return applicationView{
		Name: a.Name, WebhookURL: c.s.log.redact(a.WebhookURL), GameField: a.GameField, Dialect: a.Dialect,
	}
}

// saveApplication saves {"token","name","webhook_url","game_field","dialect"}, of which
// only the token is required, and answers the application as saved.
func (c control) saveApplication(r *call) (any, *Error) {
	f := r.fields()
	a := Application{
		Token: f.text("token"), Name: f.text("name"), WebhookURL: f.text("webhook_url"), GameField: f.text("game_field"),
	}
	dialect := f.text("dialect")
	if f.problem != nil {
		return nil, f.problem
	}
	var err error
	if a.Dialect, err = ParseDialect(dialect); err != nil {
		return nil, invalidParameter("dialect", "cannot be read: "+err.Error())
	}
	a, problem := c.storeApplication(a)
	return c.viewApplication(a), problem
}

// setWebhook sets the webhook URI of an application: {"token","url"}, where an empty url
// removes it. It answers {"url":"…"}.
func (c control) setWebhook(r *call) (any, *Error) {
	f := r.fields()
	token := f.required("token")
	address := f.text("url")
	if _, present := f.Get("url"); f.problem == nil && !present {
		f.problem = invalidParameter("url", "is required: send the address, or an empty text to remove it")
	}
	if f.problem != nil {
		return nil, f.problem
	}
	return map[string]string{"url": address}, problemIn(c.s.SetWebhook(token, address))
}

// saveProduct saves {"id","application","name","icon","price"}, without an id as a new
// product, and answers the product as saved.
func (c control) saveProduct(r *call) (any, *Error) {
	f := r.fields()
	p := Product{ID: f.text("id"), Application: f.text("application"), Name: f.text("name"), Icon: f.text("icon")}
	p.Price, _ = f.whole("price", 1)
	if f.problem != nil {
		return nil, f.problem
	}
	p, problem := asProblem(c.s.SaveProduct(p))
	return productView(p), problem
}

func (c control) deleteProduct(r *call) (any, *Error) {
	return done{}, problemIn(c.s.DeleteProduct(r.PathValue("id")))
}

// saveUser saves {"id","name"} and answers the user as saved.
func (c control) saveUser(r *call) (any, *Error) {
	f := r.fields()
	u := StoreUser{ID: f.text("id"), Name: f.text("name")}
	if f.problem != nil {
		return nil, f.problem
	}
	u, problem := asProblem(c.s.SaveStoreUser(u))
	return userView(u), problem
}

// buy is a user in the game store: {"product","user"}, both ids. It answers the payment.
func (c control) buy(r *call) (any, *Error) {
	f := r.fields()
	product, user := f.required("product"), f.required("user")
	if f.problem != nil {
		return nil, f.problem
	}
	p, problem := asProblem(c.s.Buy(product, user))
	return viewPayment(p), problem
}

// maxControlAdvance keeps a typing error from using up the clock.
const maxControlAdvance = 10 * 365 * 24 * time.Hour

// advance moves the clock by {"duration":"5m"} and answers {"now":"…"} once the attempts
// on the way have ended.
func (c control) advance(r *call) (any, *Error) {
	f := r.fields()
	text := f.required("duration")
	if f.problem != nil {
		return nil, f.problem
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxControlAdvance {
		return nil, invalidParameter("duration", fmt.Sprintf(
			`must be a length of time from "0s" to "%.0fh", as in "90s", "5m" or "2h30m"`, maxControlAdvance.Hours()))
	}
	return c.moved(r.Context(), func(ctx context.Context) (Attempt, bool, error) { return Attempt{}, false, c.s.advance(ctx, d) })
}

// next moves the clock to the next webhook attempt. It answers {"now":"…"} and, if there
// was one, "attempt".
func (c control) next(r *call) (any, *Error) {
	return c.moved(r.Context(), func(ctx context.Context) (Attempt, bool, error) {
		a, ok := c.s.jump(ctx)
		return a, ok, ctx.Err()
	})
}

// moved is the clock after a move, which ends early when its caller leaves.
func (c control) moved(ctx context.Context, move func(context.Context) (Attempt, bool, error)) (any, *Error) {
	a, ok, err := move(ctx)
	if err != nil || c.s.isClosed() {
		return nil, serverClosed()
	}
	out := movedView{Now: whole(c.s.Now())}
	if ok {
		attempt := c.viewAttempt(a)
		out.Attempt = &attempt
	}
	return out, nil
}

// problemOf is the refusal inside an error of a Server method. Any other error is an answer
// that a fault has lost.
func problemOf(err error) *Error {
	var problem *Error
	if errors.As(err, &problem) {
		return problem
	}
	return &Error{Code: CodeFaultInjected, Message: fmt.Sprintf("the answer to the notification was lost (%v); "+
		"look at the list below to see whether the service got it", err)}
}
