package mockserver_test

import (
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

// FuzzRequests sends any body to any endpoint. Whatever it is, the service
// answers 200 with one JSON value, and the log shows no token. (The control API, which
// answers otherwise, has FuzzControl.)
func FuzzRequests(f *testing.F) {
	f.Add("/payments", "", `{"token":"test_demo","title":"T","identifier":"i","amount":1e4,"items":[{"name":"n","price":1}]}`)
	f.Add("/payments/confirm", "", `{"token":"test_demo","payToken":"x"}`)
	f.Add("/callback/rest", "token=test%5Fdemo", "")
	f.Add("/mobile/deposit", "", `{"package":"com.kbstar.kbbank","title":"\ud800"}`)
	f.Fuzz(func(t *testing.T, path, query, body string) {
		s, err := mockserver.New(mockserver.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/_mock") {
			path = "/payments"
		}
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			req := &http.Request{
				Method: method, URL: &url.URL{Scheme: "http", Host: "h", Path: path, RawQuery: query},
				Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
			}
			resp, err := s.Transport().RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK || !json.Valid(answer) || !utf8.Valid(answer) {
				t.Fatalf("%d %q", resp.StatusCode, answer)
			}
		}
		for _, r := range s.Requests() {
			for _, text := range []string{r.Path, r.Query, r.Body, r.Response} {
				if strings.Contains(text, "test_demo") {
					t.Fatalf("the token is in the log: %q", text)
				}
			}
		}
		checkStored(t, s, body)
	})
}

// checkStored compares what was created with what encoding/json reads.
func checkStored(t *testing.T, s *mockserver.Server, body string) {
	t.Helper()
	for _, p := range s.Payments() {
		// Unknown fields are ignored, also a number that no float64 holds.
		var members map[string]json.RawMessage
		var want struct{ identifier, title string }
		err := json.Unmarshal([]byte(body), &members)
		err = errors.Join(err, json.Unmarshal(members["identifier"], &want.identifier), json.Unmarshal(members["title"], &want.title))
		if err != nil {
			t.Fatalf("a payment was made from %q: %v", body, err)
		}
		if p.Identifier != want.identifier || p.Title != want.title {
			t.Fatalf("%q is not what %q says", p.Identifier, body)
		}
		if _, err := s.Deposit(p.ID, mockserver.Deposit{Amount: 1}); err != nil {
			t.Fatal(err)
		}
	}
}
