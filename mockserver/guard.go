package mockserver

import (
	"net"
	"net/http"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
)

// origins refuses what a browser sends for another site. Other clients send none of the
// headers that it reads.
var origins = http.NewCrossOriginProtection()

// guard keeps other sites from acting through the browser of a person who runs a mock. A
// foreign name that resolves to the loopback address (DNS rebinding) shows in the Host.
// The direct transport has no browser at its other end, and accepts any host. The key names
// the text for people.
func guard(s *Server, w http.ResponseWriter, r *http.Request) (problem *Error, key string) {
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

// refuseCrossSite refuses what a browser sends to the endpoints of the service for another
// site. Merchants call them from programs: a browser that calls them obeys another
// site, and a bank notification needs no token. A poll changes state too, so a GET is
// checked like any other method.
func refuseCrossSite(s *Server, w http.ResponseWriter, r *http.Request) *Error {
	if _, inMemory := w.(*direct.Writer); inMemory {
		return nil
	}
	problem, key := guard(s, w, r)
	if key == "refused.host" && r.Context().Value(http.LocalAddrContextKey) == nil {
		problem = nil // no server has accepted it from a connection: a test calls the handler
	}
	if site := r.Header["Sec-Fetch-Site"]; problem == nil && len(site) > 0 && (site[0] == "cross-site" || site[0] == "same-site") {
		return &Error{Code: CodeForbidden, Message: "a browser sent this for another site; use a client that is no browser"}
	}
	return problem
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// matchPath also sets the parts in braces as PathValues of the request.
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
