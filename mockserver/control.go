package mockserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// controlRoot is the path of the control API. It is not part of the service: tests in
// other processes, and people with curl, play the payer and move the clock with it.
// Errors have the shape of the service's errors, with a 4xx status.
const controlRoot = "/_mock"

// control is what programs and people can see and do. The control API and the pages
// call its methods and read nothing else of the Server. Its queries and commands are in
// control_queries.go, and the values that they return in control_views.go.
type control struct{ s *Server }

// controlRoute is one call of the control API. A part of the path in braces matches any
// text and is a PathValue of the request. The answer is marshaled as JSON.
type controlRoute struct {
	method, path string
	serve        func(control, *call) (any, *Error)
}

var controlRoutes []controlRoute

// A notification goes through the whole server, which the compiler takes for a cycle.
func init() {
	controlRoutes = []controlRoute{
		{http.MethodGet, "/summary", control.serveSummary},
		{http.MethodPost, "/reset", control.serveReset},
		{http.MethodGet, "/applications", control.listApplications},
		{http.MethodPut, "/applications", control.saveApplication},
		{http.MethodPut, "/webhook", control.setWebhook},
		{http.MethodGet, "/account", control.serveAccount},
		{http.MethodGet, "/payments", control.listPayments},
		{http.MethodGet, "/payments/{payToken}", control.servePayment},
		{http.MethodGet, "/payments/{payToken}/record", control.serveRecord},
		{http.MethodGet, "/payments/{payToken}/timeline", control.serveTimeline},
		{http.MethodGet, "/payments/{payToken}/delivery", control.serveDelivery},
		{http.MethodPut, "/payments/{payToken}/payer", control.givePayer},
		{http.MethodPost, "/payments/{payToken}/deposit", control.deposit},
		{http.MethodPost, "/payments/{payToken}/deliver", control.deliver},
		{http.MethodPost, "/payments/{payToken}/resend", control.resend},
		{http.MethodGet, "/products", control.listProducts},
		{http.MethodPut, "/products", control.saveProduct},
		{http.MethodDelete, "/products/{id}", control.deleteProduct},
		{http.MethodGet, "/users", control.listUsers},
		{http.MethodPut, "/users", control.saveUser},
		{http.MethodPost, "/buy", control.buy},
		{http.MethodGet, "/deliveries", control.listDeliveries},
		{http.MethodGet, "/requests", control.listRequests},
		{http.MethodGet, "/notifications", control.listNotifications},
		{http.MethodPost, "/notifications", control.sendNotification},
		{http.MethodGet, "/unmatched", control.listUnmatched},
		{http.MethodPost, "/unmatched/{id}/resolve", control.resolve},
		{http.MethodPost, "/unmatched/{id}/dismiss", control.dismiss},
		{http.MethodGet, "/faults", control.listFaults},
		{http.MethodPost, "/faults", control.addFault},
		{http.MethodDelete, "/faults", control.clearFaults},
		{http.MethodDelete, "/faults/{place}", control.removeFault},
		{http.MethodGet, "/clock", control.serveClock},
		{http.MethodGet, "/clock/attempts", control.listAttempts},
		{http.MethodPost, "/clock/advance", control.advance},
		{http.MethodPost, "/clock/next", control.next},
	}
}

func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	answer, problem := control{s}.answer(&call{Request: r})
	if problem != nil {
		writeJSON(w, problem.Code.httpStatus(), problem.appendJSON(nil))
		return
	}
	record, ok := answer.(json.RawMessage) // byte for byte what the service sends
	if !ok {
		record = marshal(answer)
	}
	writeJSON(w, http.StatusOK, record)
}

func (c control) answer(r *call) (answer any, problem *Error) {
	r.body, problem = readBody(r.Request)
	if problem != nil {
		return nil, problem
	}
	var methods []string
	for _, route := range controlRoutes {
		switch {
		case !matchPath(controlRoot+route.path, r.Request):
		case route.method == r.Method:
			return route.serve(c, r)
		default:
			methods = append(methods, route.method)
		}
	}
	if methods == nil {
		return nil, &Error{Code: CodeNotFound, Message: "the control API has no such path"}
	}
	return nil, wrongMethod(strings.Join(methods, " and "))
}

// done is the answer of a command that has nothing to tell.
type done struct{}

// fields reads the JSON object in the body of a control call. After the first problem it
// returns zero values, so that a handler asks once, at the end.
type fields struct {
	object
	problem *Error
}

func (c *call) fields() *fields {
	o, problem := parseObject(c.body)
	return &fields{o, problem}
}

// optional is fields for a body that may be absent.
func (c *call) optional() *fields {
	if len(c.body) == 0 {
		return &fields{}
	}
	return c.fields()
}

func (f *fields) text(name string) (text string) {
	if f.problem == nil {
		text, f.problem = f.object.text(name, name)
	}
	return text
}

func (f *fields) required(name string) (text string) {
	if f.problem == nil {
		text, f.problem = f.object.required(name, name)
	}
	return text
}

func (f *fields) whole(name string, least int64) (n int64, given bool) {
	if f.problem == nil {
		n, given, f.problem = f.object.whole(name, name, least)
	}
	return n, given
}
