package mockserver

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBody is the longest request body that is read.
const maxBody = 64 << 10

// maxDrained is how much of a body that is too long is thrown away.
const maxDrained = 1 << 20

// call is one request on its way to an endpoint.
type call struct {
	*http.Request
	body []byte
}

// apiRoute is an endpoint of the service with the name of its operation.
type apiRoute struct {
	op string
	endpoint
}

// endpoint answers a call with one JSON value, or refuses it.
type endpoint struct {
	method string
	serve  func(*Server, *call) ([]byte, *Error)
}

var apiRoutes = map[string]*apiRoute{
	"/payments":                {opCreate, endpoint{http.MethodPost, (*Server).create}},
	"/payments/confirm":        {opConfirm, endpoint{http.MethodPost, (*Server).confirm}},
	"/callback/rest":           {opNext, endpoint{http.MethodGet, (*Server).poll}},
	"/callback/webhook/status": {opStatus, endpoint{http.MethodGet, (*Server).webhookStatus}},
	"/callback/webhook/resend": {opResend, endpoint{http.MethodPost, (*Server).webhookResend}},
	"/mobile/banks":            {opBanks, endpoint{http.MethodGet, (*Server).banks}},
	"/mobile/deposit":          {opDeposit, endpoint{http.MethodPost, (*Server).uploadDeposit}},
}

// Handler is the whole server as an http.Handler: the endpoints of interface §4, the
// pages for people and the control API under /_mock. It works before [Server.Start]
// and next to it.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	route := apiRoutes[r.URL.Path] // first: a poll need not be compared with every page
	if route == nil {
		if s.servePage(w, r) {
			return
		}
		if r.URL.Path == controlRoot || strings.HasPrefix(r.URL.Path, controlRoot+"/") {
			s.serveControl(w, r)
			return
		}
	}
	s.serveEndpoint(w, r, route)
}

// serveEndpoint answers a request to the service; route is nil for a path that it does
// not have.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request, route *apiRoute) {
	arrived := s.clock.now()
	c := &call{Request: r}
	var problem *Error
	c.body, problem = readBody(r)
	route, refused := c.checkRoute(route)
	if stranger := s.stranger(w, r); stranger != nil {
		problem, refused = stranger, stranger
	}
	if problem == nil {
		problem = refused
	}
	if refused == nil {
		if fault := s.faults.decide(route.op); fault != nil {
			s.serveFaulty(w, c, arrived, route, problem, fault)
			return
		}
	}
	// The log comes first: a client that has its answer finds its request there.
	answer := s.reply(c, route, problem)
	s.log.add(arrived, c, answer, nil)
	answer.write(w)
}

// checkRoute refuses a call that is for no endpoint.
func (c *call) checkRoute(route *apiRoute) (*apiRoute, *Error) {
	switch {
	case route == nil:
		return &apiRoute{}, &Error{Code: CodeNotFound, Message: "the service has no such path"}
	case c.Method != route.method:
		return route, wrongMethod(route.method)
	}
	return route, nil
}

// reply lets the endpoint act, unless the call has a problem already, and words its
// answer in the application's dialect.
func (s *Server) reply(c *call, route *apiRoute, problem *Error) reply {
	var answer []byte
	if problem == nil {
		answer, problem = route.serve(s, c)
	}
	if spoken := s.dialects.Load(); spoken != nil {
		return (*spoken)[c.tokenSent()].word(route.op, answer, problem)
	}
	switch problem {
	case nil:
	case emptyPoll:
		answer = emptyPollJSON
	default:
		answer = problem.appendJSON(make([]byte, 0, errorSize))
	}
	return reply{status: http.StatusOK, body: answer} // the service answers 200 to everything
}

func wrongMethod(method string) *Error {
	return &Error{Code: CodeMethodNotAllowed, Message: "this path takes " + method + " only"}
}

// readBody reads the body of any method: field clients send a content type, and
// some a body, on GET too.
func readBody(r *http.Request) ([]byte, *Error) {
	switch {
	case r.ContentLength == 0 || r.Body == nil:
		return nil, nil
	case r.ContentLength > maxBody:
		return nil, bodyTooLarge(r.Body)
	case r.ContentLength > 0:
		body := make([]byte, r.ContentLength)
		n, err := io.ReadFull(r.Body, body)
		return body[:n], unreadable(err)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if len(body) > maxBody {
		return nil, bodyTooLarge(r.Body)
	}
	return body, unreadable(err)
}

func unreadable(err error) *Error {
	if err == nil {
		return nil
	}
	return invalidJSON("the body could not be read to its end")
}

// bodyTooLarge reads on for a while: a connection that is closed over unread data
// is reset, and the client would never see the answer.
func bodyTooLarge(rest io.Reader) *Error {
	_, _ = io.CopyN(io.Discard, rest, maxDrained)
	return &Error{Code: CodeBodyTooLarge, Message: fmt.Sprintf("the body is longer than %d KiB", maxBody>>10)}
}

// param returns a query parameter, "" when it is absent. It is url.ParseQuery
// without the map, for the poll's sake, and refuses a repeated parameter.
func (c *call) param(name string) (value string, problem *Error) {
	found := false
	for query := c.URL.RawQuery; query != ""; {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, raw, _ := strings.Cut(pair, "=")
		if key != name {
			if decoded, err := url.QueryUnescape(key); err != nil || decoded != name {
				continue
			}
		}
		if found {
			return "", invalidParameter(name, "is given twice in the query; give it once")
		}
		decoded, err := url.QueryUnescape(raw)
		if err != nil {
			return "", invalidParameter(name, "is not well percent-encoded")
		}
		found, value = true, decoded
	}
	return value, nil
}

func (c *call) required(name string) (string, *Error) {
	value, problem := c.param(name)
	if problem == nil && value == "" {
		problem = invalidParameter(name, "is required: add ?"+name+"=… to the address")
	}
	return value, problem
}

// token is the application API token of a GET (interface §5.2).
func (c *call) token() (string, *Error) { return c.required("token") }
