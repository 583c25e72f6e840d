package mockserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/mockserver"
)

// FuzzControl sends any body to any call of the control API, twice. In the path and in the
// body {id} is the id of a payment. The answer is always one JSON value, or a page where
// there is one, with a status below 500; and the service goes on.
func FuzzControl(f *testing.F) {
	f.Add("POST", "/payments/{id}/deposit", "", `{"amount":1e4,"method":"CULTURE","payer":"\ud800"}`)
	f.Add("PUT", "/applications", "", `{"name":"a","token":"test_a","webhook_url":"http://127.0.0.1:1/"}`)
	f.Add("POST", "/faults", "", `{"operation":"create","kind":"delay","delay":"1h","every":2}`)
	f.Add("POST", "/clock/advance", "", `{"duration":"87600h"}`)
	f.Add("DELETE", "/products/{id}", "token=test_demo", "")
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		s, err := mockserver.New(mockserver.Config{
			Clock: mockserver.NewStoppedClock(start), Logger: slog.New(slog.DiscardHandler),
			WebhookTransport: nobodyHome{},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		fuzzCall(t, s, http.MethodPut, "/_mock/webhook", "", `{"token":"test_demo","url":"http://127.0.0.1:1/hook"}`)
		_, _, text := fuzzCall(t, s, http.MethodPost, "/payments", "", `{"token":"test_demo","title":"T","identifier":"i"}`)
		var created struct{ PayToken string }
		if err := json.Unmarshal(text, &created); err != nil || created.PayToken == "" {
			t.Fatalf("%q: %v", text, err)
		}
		fill := strings.NewReplacer("{id}", created.PayToken).Replace
		for range 2 {
			status, kind, answer := fuzzCall(t, s, method, "/_mock"+fill(path), query, fill(body))
			if status < 200 || status >= 500 {
				t.Fatalf("%d %q", status, answer)
			}
			if !utf8.Valid(answer) || strings.HasPrefix(kind, "application/json") && len(answer) > 0 && !json.Valid(answer) {
				t.Fatalf("%s %q", kind, answer)
			}
		}
		if status, _, list := fuzzCall(t, s, http.MethodGet, "/_mock/payments", "", ""); status != http.StatusOK || !bytes.Contains(list, []byte(created.PayToken)) {
			t.Fatalf("the payment is gone: %d %q", status, list)
		}
	})
}

// fuzzCall sends a request past the socket, and past all that net/http would refuse of it.
func fuzzCall(t *testing.T, s *mockserver.Server, method, path, query, body string) (status int, kind string, answer []byte) {
	t.Helper()
	resp, err := s.Transport().RoundTrip(&http.Request{
		Method: method, URL: &url.URL{Scheme: "http", Host: "h", Path: path, RawQuery: query},
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err = io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer
}

// nobodyHome is a network without the merchant.
type nobodyHome struct{}

func (nobodyHome) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody is at home")
}
