package mockserver

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody is the longest request body that is read.
const maxBody = 64 << 10

// maxDrained is how much of a body that is too long is read and discarded.
const maxDrained = 1 << 20

// call is one request on its way to an endpoint.
type call struct {
	*http.Request
	body []byte
}

// Handler is the whole server as an http.Handler: the endpoints of interface §4, the
// pages for people and the control API under /_mock. It works before [Server.Start]
// and next to it.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	route := apiRoutes[r.URL.Path] // first, so that a poll is not compared with every page
	if route == nil {
		if s.servePage(w, r) {
			return
		}
		if r.URL.Path == controlRoot || strings.HasPrefix(r.URL.Path, controlRoot+"/") {
			s.serveControl(w, r)
			return
		}
	}
	serveEndpoint(s, w, r, route)
}

// serveEndpoint answers a request to the service; route is nil for a path that it does
// not have.
func serveEndpoint(s *Server, w http.ResponseWriter, r *http.Request, route *apiRoute) {
	arrived := s.clock.now()
	c := &call{Request: r}
	var problem *Error
	c.body, problem = readBody(r)
	route, refused := c.checkRoute(route)
	if foreign := refuseCrossSite(s, w, r); foreign != nil {
		problem, refused = foreign, foreign
	}
	if problem == nil {
		problem = refused
	}
	if refused == nil {
		if fault := s.faults.decide(route.op); fault != nil {
			serveFaulty(s, w, c, arrived, route, problem, fault)
			return
		}
	}
	// The log comes first: a client that has its answer finds its request there.
	answer := answerCall(s, c, route, problem)
	s.log.add(c.entry(arrived, answer))
	answer.write(w)
}

// entry is the call with its answer, for the log.
func (c *call) entry(arrived time.Time, answer reply) logged {
	return logged{
		at: arrived, method: c.Method, path: c.URL.EscapedPath(), query: c.URL.RawQuery,
		body: c.body, response: answer.body, status: answer.status,
	}
}

// struck is entry for a call that a fault has struck.
func (c *call) struck(arrived time.Time, answer reply, got sent) logged {
	e := c.entry(arrived, answer)
	e.sent = &got
	return e
}

// checkRoute refuses a call without an endpoint.
func (c *call) checkRoute(route *apiRoute) (*apiRoute, *Error) {
	switch {
	case route == nil:
		return &apiRoute{}, &Error{Code: CodeNotFound, Message: "the service has no such path"}
	case c.Method != route.method:
		return route, wrongMethod(route.method)
	}
	return route, nil
}

// answerCall lets the endpoint act, unless the call has a problem already, and renders its
// answer in the application's dialect.
func answerCall(s *Server, c *call, route *apiRoute, problem *Error) reply {
	var answer []byte
	if problem == nil {
		answer, problem = route.serve(s, c)
	}
	if spoken := s.apps.dialects.Load(); spoken != nil {
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

// tokenSent is the token that a call carries: in the query of a GET, else in the body.
func (c *call) tokenSent() string {
	if c.Method == http.MethodGet {
		token, _ := c.param("token")
		return token
	}
	o, problem := parseObject(c.body)
	if problem != nil {
		return ""
	}
	token, _ := o.text("token", "token")
	return token
}

// dialectOf is the dialect to answer a call in.
func dialectOf(s *Server, c *call) Dialect {
	if spoken := s.apps.dialects.Load(); spoken != nil {
		return (*spoken)[c.tokenSent()]
	}
	return Dialect{}
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

// bodyTooLarge reads on for a while: closing a connection with unread data resets it,
// and the client would never see the answer.
func bodyTooLarge(rest io.Reader) *Error {
	_, _ = io.CopyN(io.Discard, rest, maxDrained)
	return &Error{Code: CodeBodyTooLarge, Message: fmt.Sprintf("the body is longer than %d KiB", maxBody>>10)}
}

// param returns a query parameter, "" when it is absent. It is url.ParseQuery
// without the map, which makes a poll cheaper, and refuses a repeated parameter.
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
			return "", invalidParameter(name, "is not percent-encoded correctly")
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

// lengths are the values of Content-Length for the usual answers, rendered once.
var lengths = lengthValues()

func lengthValues() (values [512][]string) {
	for n := range values {
		values[n] = []string{strconv.Itoa(n)}
	}
	return values
}

func lengthValue(n int) []string {
	if n < len(lengths) {
		return lengths[n]
	}
	return []string{strconv.Itoa(n)}
}

var jsonContentType = []string{"application/json; charset=utf-8"}

// reply is an answer as the client gets it.
type reply struct {
	status      int
	body        []byte
	contentType string // JSON's if empty
	retryAfter  int    // in seconds; 0: no such header
}

func (r *reply) write(w http.ResponseWriter) {
	r.writeHead(w, len(r.body))
	_, _ = w.Write(r.body) // the client may be gone; its payment is completed anyway
}

func (r *reply) writeHead(w http.ResponseWriter, length int) {
	h := w.Header()
	if r.contentType == "" {
		h["Content-Type"] = jsonContentType
	} else {
		h.Set("Content-Type", r.contentType)
	}
	if r.status != http.StatusNoContent {
		h["Content-Length"] = lengthValue(length)
	}
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	w.WriteHeader(r.status)
}

func writeJSON(w http.ResponseWriter, status int, answer []byte) {
	(&reply{status: status, body: answer}).write(w)
}
