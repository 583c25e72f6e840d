package mockserver

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// pageRoute is one page or one form for people. A part of the path in braces matches any
// text and is a PathValue of the request. HEAD is served like GET.
type pageRoute struct {
	method, path string
	serve        func(*visit)
}

// pageRoutes are all pages. Those under controlRoot come before the control API, which gets
// every other method and path.
var pageRoutes []pageRoute

// A page may send a request to the server itself, which the compiler takes for a cycle.
func init() {
	pageRoutes = slices.Concat(sharedRoutes(), checkoutRoutes(), storeRoutes(), dashRoutes(), openapiRoutes())
}

func sharedRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, web.ChangesPath, (*visit).changes},
		{http.MethodGet, web.Root + "/{asset}", (*visit).asset},
	}
}

// servePage serves the pages, and protects the control API against other sites. It is false
// for other paths, above all the endpoints of the interface, and for the control API.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	forPrograms := under(path, controlRoot)
	if !forPrograms && !under(path, checkoutRoot) && !under(path, storeRoot) && !under(path, web.Root) &&
		path != openapiPage && path != openapiFile {
		return false
	}
	v := &visit{Request: r, control: control{s}, w: w}
	if problem, key := guard(s, w, r); problem != nil {
		v.refuseCrossSite(forPrograms, problem, key)
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
	if forPrograms {
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

// refuseCrossSite sends the refusal as JSON to programs, and as a page to people.
func (v *visit) refuseCrossSite(forPrograms bool, problem *Error, key string) {
	if forPrograms {
		v.w.Header().Set("X-Content-Type-Options", "nosniff")
		writeJSON(v.w, http.StatusForbidden, problem.appendJSON(nil))
		return
	}
	v.lang = web.ChooseLang(v.w, v.Request)
	v.refuse(http.StatusForbidden, key)
}

// maxForm is the longest form. Several texts of 10,000 characters, each of up to nine bytes
// in a form, fit, so that the error is about their length.
const maxForm = 1 << 20

// formOf reads a form; nil if it cannot be read.
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
