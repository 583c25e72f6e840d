package mockserver

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashAction is a form of the dashboard: a call of the control API.
type dashAction struct {
	call func(control, *call) (any, *Error)
	// fields are the fields of the form that go into the body, under the same names. A
	// sign at the end says how a field reads: "#" is a whole number, "%" a probability,
	// "~" a length of time, "*" a list of one, and "!" a text that is sent even if empty.
	fields string
	// also adds to the body what no single field holds.
	also func(*dashForm) *Error
	// then chooses the next page, empty for the same one, and the text of "dash.done."
	// that it shows. Default: the name of the action.
	then func(f *dashForm, answer any) (to, said string)
}

// dashActions are the forms by the value of their field "do".
var dashActions map[string]dashAction

// A notification goes through the whole server, which the compiler takes for a cycle.
func init() {
	dashActions = map[string]dashAction{
		"pay":            {call: control.deposit, fields: "payer amount# method"},
		"payer":          {call: control.givePayer, fields: "payer! amount#"},
		"resend":         {call: control.resend, then: afterResend},
		"deliver":        {call: control.deliver},
		"notify":         {call: control.sendNotification, fields: "package payer! amount#", also: asDeposit, then: afterPhone},
		"upload":         {call: control.sendNotification, fields: "package title subtitle text", then: afterPhone},
		"assign":         {call: control.resolve, fields: "payToken amount#", also: chosenPayment, then: afterAssign},
		"dismiss":        {call: control.dismiss},
		"product":        {call: control.saveProduct, fields: "id application name icon price#", then: afterProduct},
		"product-delete": {call: control.deleteProduct},
		"user":           {call: control.saveUser, fields: "id name", then: toList("ui/users", "user")},
		"application": {
			call: control.saveApplication, fields: "token name webhook_url game_field",
			also: chosenApplication, then: toList("ui/applications", "application"),
		},
		"advance":      {call: control.advance, fields: "duration~", also: chosenSpan},
		"jump":         {call: control.next, then: afterJump},
		"fault":        {call: control.addFault, fields: "operation kind bytes# status# retry_after# delay~", also: chosenCalls},
		"fault-remove": {call: control.removeFault},
		"faults-clear": {call: control.clearFaults},
		"chance":       {call: control.addFault, fields: "rate% seed# max_delay~ operations* kinds*", also: kindOfOperation},
		"chance-end":   {call: control.addFault, also: func(f *dashForm) *Error { return f.put("rate", 0) }},
	}
}

// dashForm is a form on its way to the control API.
type dashForm struct {
	*visit
	id   string // the payment, deposit, product, application or rule that it is about
	body map[string]any
}

func (v *visit) dashForm() *dashForm {
	f := &dashForm{visit: v, id: v.PathValue("id"), body: map[string]any{}}
	if f.id == "" {
		f.id = v.value("target")
	}
	return f
}

// send makes the call.
func (f *dashForm) send(action dashAction) (any, *Error) {
	for _, field := range strings.Fields(action.fields) {
		name := strings.TrimRight(field, "#%~*!")
		if problem := f.read(name, field[len(name):]); problem != nil {
			return nil, problem
		}
	}
	if action.also != nil {
		if problem := action.also(f); problem != nil {
			return nil, problem
		}
	}
	r := f.Clone(f.Context())
	r.URL = &url.URL{Path: r.URL.Path, RawQuery: url.Values{"rule": {f.value("rule")}}.Encode()}
	for _, name := range []string{"payToken", "id", "place"} {
		r.SetPathValue(name, f.id)
	}
	r.Body = io.NopCloser(bytes.NewReader(nil))
	return action.call(f.control, &call{Request: r, body: marshal(f.body)})
}

func (f *dashForm) put(name string, value any) *Error {
	f.body[name] = value
	return nil
}

// read puts a field of the form into the body.
func (f *dashForm) read(name, kind string) *Error {
	text := f.text(name)
	if text == "" && kind != "!" {
		return nil
	}
	switch kind {
	case "#":
		n, err := strconv.ParseInt(amountWords.Replace(text), 10, 64)
		if err != nil {
			return invalidParameter(name, "must be a whole number, as in 10000")
		}
		return f.put(name, n)
	case "%":
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p > 0 && p <= 1) {
			return invalidParameter(name, `must be above 0 and at most 1, as in "0.25"`)
		}
		return f.put(name, p)
	case "~":
		return f.put(name, strings.ReplaceAll(text, " ", ""))
	case "*":
		return f.put(name, []string{text})
	}
	return f.put(name, text)
}

// text is a posted text of several lines; browsers end them with CR LF.
func (f *dashForm) text(name string) string { return strings.ReplaceAll(f.value(name), "\r\n", "\n") }

// refusal is the form as it goes back to who typed it. A token does not go back: it may be
// a live one.
func (f *dashForm) refusal(problem *Error) *web.DashForm {
	name := f.value("do")
	if target := f.value("target"); target != "" {
		name += "-" + target
	}
	values := make(map[string]string, len(f.form))
	for name := range f.form {
		if name != "token" {
			values[name] = f.text(name)
		}
	}
	field, text := "", problem.Message
	if rest, quoted := strings.CutPrefix(text, `"`); quoted {
		if name, said, ok := strings.Cut(rest, `" `); ok {
			text = said
			if name = f.fieldOf(name); f.form.Has(name) {
				field = name
			}
		}
	}
	return &web.DashForm{Name: name, Values: values, Field: field, Code: string(problem.Code), Text: text}
}

// fieldOf is the field of the form for a field of the body.
func (f *dashForm) fieldOf(name string) string {
	switch {
	case name == "payToken":
		return "other"
	case name == f.value("calls"):
		return "number"
	}
	return name
}

// asDeposit asks for the bank's wording, whatever is missing.
func asDeposit(f *dashForm) *Error {
	if _, given := f.body["amount"]; !given {
		return f.put("amount", 0)
	}
	return nil
}

// chosenPayment is a candidate, or the payment whose id was typed.
func chosenPayment(f *dashForm) *Error {
	if other := f.value("other"); other != "" {
		return f.put("payToken", other)
	}
	if f.body["payToken"] == nil {
		return invalidParameter("other", "is required: choose a candidate or enter the id of a payment")
	}
	return nil
}

// chosenSpan is the button with a length of time, which goes before what was typed.
func chosenSpan(f *dashForm) *Error {
	if by := f.value("by"); by != "" {
		return f.put("duration", by)
	}
	return nil
}

// chosenApplication finds the token of the application with the number, and puts the
// choices of the dialect into one text.
func chosenApplication(f *dashForm) *Error {
	known := false
	for i, a := range f.control.s.Applications() {
		if strconv.Itoa(i+1) == f.id {
			known = true
			f.body["token"] = a.Token
		} else if f.id == "" && a.Token == f.body["token"] {
			return invalidParameter("token", "belongs to an application already: edit that one, or choose another token")
		}
	}
	if f.id != "" && !known {
		return &Error{Code: CodeNotFound, Message: "there is no application with this number; look at the list"}
	}
	var chosen []string
	for _, o := range DialectOptions() {
		if value := f.value("dialect_" + o.Name); value != "" {
			chosen = append(chosen, o.Name+"="+value)
		}
	}
	return f.put("dialect", strings.Join(chosen, ","))
}

// chosenCalls reads which calls a rule means: a way to choose and its number.
func chosenCalls(f *dashForm) *Error {
	kind := "#"
	switch which := f.value("calls"); which {
	case "":
		return nil
	case "probability":
		kind = "%"
		fallthrough
	case "nth", "every", "first":
		if problem := f.read("number", kind); problem != nil {
			return problem
		}
		if n := f.body["number"]; n == nil || n == int64(0) {
			return invalidParameter("number", "must be at least 1")
		}
		f.body[which] = f.body["number"]
		delete(f.body, "number")
		return nil
	}
	return invalidParameter("calls", "must be empty, nth, every, first or probability")
}

// kindOfOperation refuses a kind that the chosen operation does not have: it would never
// strike.
func kindOfOperation(f *dashForm) *Error {
	op, kind := f.value("operations"), f.value("kinds")
	if op == "" || kind == "" || slices.Contains(FaultKinds(op), kind) {
		return nil
	}
	return invalidParameter("kinds", "is unknown for the operation "+strconv.Quote(web.Short(op, 40))+"; choose another one")
}

func toList(path, said string) func(*dashForm, any) (string, string) {
	return func(*dashForm, any) (string, string) { return path, said }
}

func afterProduct(_ *dashForm, answer any) (to, said string) {
	return "ui/store#product-" + answer.(productView).ID, "product"
}

func afterAssign(f *dashForm, _ any) (to, said string) {
	return "ui/payments/" + f.body["payToken"].(string), "assigned"
}

// afterResend looks whether anything was sent (interface §6.5).
func afterResend(f *dashForm, _ any) (to, said string) {
	if p, problem := f.control.payment(f.id); problem == nil && p.Status == StatusComplete {
		return "", "settled"
	}
	return "", "resent"
}

func afterJump(_ *dashForm, answer any) (to, said string) {
	switch a := answer.(movedView).Attempt; {
	case a == nil:
		return "", "jump-none"
	case a.Err == "":
		return "", "jump-delivered"
	}
	return "", "jump-failed"
}

// afterPhone says what became of a notification.
func afterPhone(_ *dashForm, answer any) (to, said string) {
	if n, kept := answer.(notificationView); kept {
		return "", "phone-" + strings.ToLower(string(n.Result))
	}
	return "", "phone-ignored"
}
