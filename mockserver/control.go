package mockserver

import (
	"net/http"
	"strings"
)

// controlRoot is where the control API begins. It is no part of the service: a
// test in another process, or a person with curl, plays the payer and the clock
// with it. Its errors have the shape of the service's, with a 4xx status.
const controlRoot = "/_mock"

// controlRoute is one call of the control API. A part of the path in braces stands
// for any text and is a PathValue of the request.
type controlRoute struct {
	method, path string
	serve        func(*Server, *call) ([]byte, *Error)
}

var controlRoutes = []controlRoute{
	{http.MethodGet, "/applications", (*Server).controlApplications},
	{http.MethodPut, "/applications", (*Server).controlSaveApplication},
	{http.MethodPut, "/webhook", (*Server).controlWebhook},
	{http.MethodGet, "/account", (*Server).controlAccount},
	{http.MethodGet, "/payments", (*Server).controlPayments},
	{http.MethodGet, "/payments/{payToken}", (*Server).controlPayment},
	{http.MethodGet, "/payments/{payToken}/timeline", (*Server).controlTimeline},
	{http.MethodPut, "/payments/{payToken}/payer", (*Server).controlPayer},
	{http.MethodPost, "/payments/{payToken}/deposit", (*Server).controlDeposit},
	{http.MethodPost, "/payments/{payToken}/deliver", (*Server).controlDeliver},
	{http.MethodPost, "/payments/{payToken}/resend", (*Server).controlResend},
	{http.MethodGet, "/products", (*Server).controlProducts},
	{http.MethodPut, "/products", (*Server).controlSaveProduct},
	{http.MethodDelete, "/products/{id}", (*Server).controlDeleteProduct},
	{http.MethodGet, "/users", (*Server).controlUsers},
	{http.MethodPut, "/users", (*Server).controlSaveUser},
	{http.MethodPost, "/buy", (*Server).controlBuy},
	{http.MethodGet, "/deliveries", (*Server).controlDeliveries},
	{http.MethodGet, "/requests", (*Server).controlRequests},
	{http.MethodGet, "/unmatched", (*Server).controlUnmatched},
	{http.MethodPost, "/unmatched/{id}/resolve", (*Server).controlResolve},
	{http.MethodPost, "/unmatched/{id}/dismiss", (*Server).controlDismiss},
	{http.MethodGet, "/faults", (*Server).controlFaults},
	{http.MethodPost, "/faults", (*Server).controlAddFault},
	{http.MethodDelete, "/faults", (*Server).controlClearFaults},
	{http.MethodGet, "/clock", (*Server).controlClock},
	{http.MethodPost, "/clock/advance", (*Server).controlAdvance},
	{http.MethodPost, "/clock/next", (*Server).controlNext},
}

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
	var methods []string
	for _, route := range controlRoutes {
		switch {
		case !matchPath(controlRoot+route.path, c.Request):
		case route.method == c.Method:
			return route.serve(s, c)
		default:
			methods = append(methods, route.method)
		}
	}
	if methods == nil {
		return nil, &Error{Code: CodeNotFound, Message: "the control API has no such path"}
	}
	return nil, wrongMethod(strings.Join(methods, " and "))
}
