package mockserver

import (
	"net/http"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
)

// stranger refuses what a browser sends to the endpoints of the service for another
// site. Merchants call them from programs: a browser that does so was told to by
// somebody else, and a bank notification needs no token. A poll changes something as
// well, so a GET is looked at like any other method.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) *Error {
	if _, inMemory := w.(*direct.Writer); inMemory {
		return nil
	}
	problem, key := s.guard(w, r)
	if key == "refused.host" && r.Context().Value(http.LocalAddrContextKey) == nil {
		problem = nil // no server has taken it from a connection: a test calls the handler
	}
	if site := r.Header["Sec-Fetch-Site"]; problem == nil && len(site) > 0 && (site[0] == "cross-site" || site[0] == "same-site") {
		return &Error{Code: CodeForbidden, Message: "a browser sent this for another site; use a client that is no browser"}
	}
	return problem
}
