package mockserver_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// from sends a request over a socket as a browser would that shows another site.
func from(t *testing.T, s *mockserver.Server, method, path, body string, header ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Close = true
	req.Header.Set("Content-Type", "text/plain") // which a browser sends without asking first
	req.Header.Set(header[0], header[1])
	if header[0] == "Host" {
		req.Host = header[1]
	}
	resp, err := new(http.Transport).RoundTrip(req)
	require.NoError(t, err)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	return string(answer)
}

// TestEndpointsRefuseOtherSites: a page that a developer looks at cannot pay, take or
// create payments behind his back. A bank notification needs no token, and the default
// token is no secret.
func TestEndpointsRefuseOtherSites(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	payable, paid := create(t, s, `"amount":10000`), create(t, s, "")
	_, err := s.GivePayer(payable, "홍길동", 0)
	require.NoError(t, err)
	deposit(t, s, paid, 1)
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 2}))

	const notification = `{"package":"com.kakaobank.channel","title":"입금 10,000원","text":"홍길동 → 내 입출금통장(1)"}`
	calls := []struct{ method, path, body string }{
		{"POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i"}`},
		{"POST", "/payments/confirm", `{"token":"test_demo","payToken":"` + paid + `"}`},
		{"GET", "/callback/rest?token=test_demo", ""},
		{"GET", "/callback/webhook/status?token=test_demo&payToken=" + paid, ""},
		{"POST", "/callback/webhook/resend", `{"token":"test_demo","payToken":"` + paid + `"}`},
		{"GET", "/mobile/banks", ""},
		{"POST", "/mobile/deposit", notification},
	}
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Host", "evil.example"}, {"Host", "127.0.0.1.evil.example:80"},
	} {
		for _, c := range calls {
			wantError(t, mockserver.CodeForbidden, from(t, s, c.method, c.path, c.body, header...))
		}
	}
	wantError(t, mockserver.CodeForbidden, from(t, s, "POST", "/mobile/deposit", notification, "Origin", "http://evil.example"))
	assert.Len(t, s.Payments(), 2)
	s.CheckStatus(t, payable, mockserver.StatusWaiting)
	s.CheckStatus(t, paid, mockserver.StatusProgress)
	assert.Empty(t, s.FaultLog())

	for _, own := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Host", "localhost"}, {"X-Any", ""}} {
		assert.Contains(t, from(t, s, "GET", "/mobile/banks", "", own...), "com.kakaobank.channel", own)
	}
	assert.Contains(t, from(t, s, "GET", "/callback/rest?token=test_demo", "", "X-Any", ""), paid, "the first call that counts")
	assert.Contains(t, from(t, s, "POST", "/mobile/deposit", notification, "X-Any", ""), "MATCHED")
}

// TestEndpointsUnderOtherHosts: with AllowRemote the server answers under any host name.
func TestEndpointsUnderOtherHosts(t *testing.T) {
	t.Parallel()
	open := mockserver.RunT(t, mockserver.Config{AllowRemote: true})
	assert.Contains(t, from(t, open, "GET", "/mobile/banks", "", "Host", "mock.internal:8080"), "com.kakaobank.channel")
	wantError(t, mockserver.CodeForbidden, from(t, open, "GET", "/mobile/banks", "", "Sec-Fetch-Site", "cross-site"))

	s := stopped(t)
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/mobile/banks", nil)) // for example.com
	assert.Contains(t, rec.Body.String(), "com.kakaobank.channel", "a handler that is called by hand has no browser before it")
}

// TestURLCanBeReached: the address of a listener on all addresses is no address to go to.
func TestURLCanBeReached(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		s := mockserver.RunT(t, mockserver.Config{Addr: addr, AllowRemote: true, Logger: slog.New(slog.DiscardHandler)})
		assert.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, s.URL(), addr)
		assert.Contains(t, from(t, s, "GET", "/mobile/banks", "", "X-Any", ""), "com.kakaobank.channel", addr)
	}
	named := mockserver.RunT(t, mockserver.Config{Addr: "localhost:0"})
	assert.Contains(t, named.URL(), "http://127.0.0.1:")
}
