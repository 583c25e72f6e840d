package mockserver

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// pageRoute is one page or one form for people. A part of the path in braces stands for
// any text and is a PathValue of the request. HEAD is served like GET.
type pageRoute struct {
	method, path string
	serve        func(*visit)
}

// pageRoutes are all pages. Those under controlRoot come before the control API, which
// keeps whatever they do not name by method and path.
var pageRoutes []pageRoute

// A page may send a request to the server itself, which is a cycle for the compiler.
func init() {
	pageRoutes = slices.Concat(sharedRoutes(), checkoutRoutes(), storeRoutes(), dashRoutes(), openapiRoutes())
}

func sharedRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, web.ChangesPath, (*visit).changes},
		{http.MethodGet, web.Root + "/{asset}", (*visit).asset},
	}
}

// servePage answers what browsers ask for, and guards the control API against them. It is
// false for all that is none of its business: the endpoints of the interface first of all.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	control := under(path, controlRoot)
	if !control && !under(path, checkoutRoot) && !under(path, storeRoot) && !under(path, web.Root) &&
		path != openapiPage && path != openapiFile {
		return false
	}
	v := &visit{Request: r, server: s, w: w}
	if problem, key := s.guard(w, r); problem != nil {
		v.refuseStranger(control, problem, key)
		return true
	}
	var allowed []string
	for i := range pageRoutes {
		switch route := &pageRoutes[i]; {
		case !matchPath(route.path, r):
		case route.method == r.Method || route.method == http.MethodGet && r.Method == http.MethodHead:
			v.serve(route)
			return true
		default:
			allowed = append(allowed, route.method)
		}
	}
	if control {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		return false
	}
	v.lang = web.ChooseLang(w, r)
	if allowed != nil {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		v.refuse(http.StatusMethodNotAllowed, "refused.method")
	} else {
		v.refuse(http.StatusNotFound, "refused.notfound")
	}
	return true
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// matchPath also notes the parts of the path that stand in braces.
func matchPath(pattern string, r *http.Request) bool {
	wanted, given := strings.Split(pattern, "/"), strings.Split(r.URL.Path, "/")
	if len(wanted) != len(given) {
		return false
	}
	for i, part := range wanted {
		name, isName := strings.CutPrefix(part, "{")
		switch {
		case isName && given[i] != "":
			r.SetPathValue(strings.TrimSuffix(name, "}"), given[i])
		case part != given[i]:
			return false
		}
	}
	return true
}

// origins refuses what a browser sends for another site. Clients that are no browsers
// send none of the headers that it looks at.
var origins = http.NewCrossOriginProtection()

// guard keeps other sites from acting through the browser of somebody who runs a mock. A
// foreign name that leads to the loopback address (DNS rebinding) shows in the Host. The
// direct transport has no browser at its other end, and takes any host. The key is that
// of the text for people.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) (problem *Error, key string) {
	if _, inMemory := w.(*direct.Writer); !inMemory && !s.cfg.AllowRemote && !localHost(r.Host) {
		return &Error{Code: CodeForbidden, Message: "the Host of the request is not a name of this machine; " +
			"use the address that the mock prints, or set Config.AllowRemote"}, "refused.host"
	}
	if err := origins.Check(r); err != nil {
		return &Error{Code: CodeForbidden, Message: "a browser sent this for another site; " +
			"use the mock's own pages, or a client that is no browser"}, "refused.origin"
	}
	return nil, ""
}

// localHost knows loopback names and addresses: without AllowRemote the server listens
// on nothing else. A client without a Host is no browser.
func localHost(hostport string) bool {
	if strings.HasPrefix(hostport, "127.0.0.1:") {
		return true // the usual one, without parsing: no name has a colon in it
	}
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return host == "" || isLoopback(host) || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// refuseStranger words a refusal for the control API, and for a page.
func (v *visit) refuseStranger(control bool, problem *Error, key string) {
	if control {
		v.w.Header().Set("X-Content-Type-Options", "nosniff")
		writeJSON(v.w, http.StatusForbidden, problem.appendJSON(nil))
		return
	}
	v.lang = web.ChooseLang(v.w, v.Request)
	v.refuse(http.StatusForbidden, key)
}

// maxForm is the longest form: several texts of 10,000 characters, each of up to nine
// bytes in a form, are told that they are too long and not that they cannot be read.
const maxForm = 1 << 20

// formOf reads a form that was sent. It is nil if that cannot be read.
func formOf(r *http.Request) url.Values {
	if r.Body == nil {
		return url.Values{}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxForm+1))
	if err != nil || len(body) > maxForm {
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	return form
}
