package openapitest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
)

// Reporter is told of violations; a *testing.T is one.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transport checks what passes through next. Errors of next, and answers that break off,
// are handed on unchecked.
func (d *Document) Transport(t Reporter, next http.RoundTripper) http.RoundTripper {
	return watch(next, func(e *exchange) {
		t.Helper()
		report(t, e, d.check(e))
	})
}

// Webhook checks the requests of a webhook of this name on their way through next, the
// transport of the server that sends them.
func (d *Document) Webhook(t Reporter, name string, next http.RoundTripper) http.RoundTripper {
	op := d.webhooks[name]
	if op == nil {
		t.Errorf("the document has no webhook %q", name)
		return next
	}
	return watch(next, func(e *exchange) {
		t.Helper()
		report(t, e, op.checkWebhook(e))
	})
}

// Handler checks what next serves, in the way of Transport. The answer is held back until
// it is complete.
func (d *Document) Handler(t Reporter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, failure := io.ReadAll(r.Body)
		in := r.Clone(r.Context())
		in.Body = io.NopCloser(replay(body, failure))
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, in)
		e := &exchange{method: r.Method, url: r.URL, header: r.Header, body: body}
		e.status, e.answerHeader, e.answer = rec.Code, rec.Header(), rec.Body.Bytes()
		if failure == nil {
			report(t, e, d.check(e))
		} else {
			report(t, e, d.checkUnread(e))
		}
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(e.answer) // the client may be gone
	})
}

func watch(next http.RoundTripper, check func(*exchange)) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		e := &exchange{method: req.Method, url: req.URL, header: req.Header}
		sent := req.Clone(req.Context())
		if req.Body != nil && req.Body != http.NoBody {
			body, err := io.ReadAll(req.Body)
			_ = req.Body.Close()
			if err != nil {
				return nil, err
			}
			e.body, sent.Body = body, io.NopCloser(bytes.NewReader(body))
		}
		resp, err := next.RoundTrip(sent)
		if err != nil {
			return nil, err
		}
		resp.Request = req
		answer, failure := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(replay(answer, failure))
		if failure == nil && req.Method != http.MethodHead {
			e.status, e.answerHeader, e.answer = resp.StatusCode, resp.Header, answer
			check(e)
		}
		return resp, nil
	})
}

// replay reads as the original did, to the same end.
func replay(data []byte, failure error) io.Reader {
	if failure == nil {
		return bytes.NewReader(data)
	}
	return io.MultiReader(bytes.NewReader(data), broken{failure})
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func report(t Reporter, e *exchange, violations []error) {
	t.Helper()
	for _, err := range violations {
		t.Errorf("%s %s %.200q, answered %d %.500q: %v", e.method, e.url.Path, e.body, e.status, e.answer, err)
	}
}
