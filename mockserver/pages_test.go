package mockserver_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// browse sends one request over a socket and follows no redirect.
func browse(t *testing.T, s *mockserver.Server, method, path string, form url.Values, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Close = true
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := new(http.Transport).RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return resp, "" // it has no end
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// TestPagesReadNoState: pages use the queries and commands of the control API, and of the
// Server only what is exported.
func TestPagesReadNoState(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("page*.go")
	require.NoError(t, err)
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.NotRegexp(t, `control\.s\.[a-z]|\.mu\b|\bServer\) [a-z]`, strings.ReplaceAll(string(text), "*Server) servePage", ""), name)
		}
	}
}

func TestPagesRefuseForeignHosts(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, "")
	paths := []string{"/pay/" + id, "/store/1", "/_page/style.css", "/_page/changes", "/_mock/payments"}
	for _, path := range paths {
		for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "[2001:db8::1]:80"} {
			resp, _ := browse(t, s, "GET", path, nil, "Host", host)
			assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%s at %s", path, host)
		}
	}
	for _, host := range []string{"127.0.0.1", "127.1.2.3:9", "localhost", "LocalHost:80", "shop.localhost", "[::1]:80", "[::1]"} {
		resp, _ := browse(t, s, "GET", "/_mock/payments", nil, "Host", host)
		assert.Equal(t, http.StatusOK, resp.StatusCode, host)
	}
	resp, body := browse(t, s, "GET", "/callback/rest?token="+s.Token(), nil, "Host", "evil.example")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "the service's own endpoints answer 200 to everything")
	wantError(t, mockserver.CodeForbidden, body)

	open := mockserver.RunT(t, mockserver.Config{AllowRemote: true})
	resp, _ = browse(t, open, "GET", "/_mock/payments", nil, "Host", "mock.internal:8080")
	assert.Equal(t, http.StatusOK, resp.StatusCode)

	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://any.example/_mock/payments", nil)
	require.NoError(t, err)
	direct, err := s.Transport().RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, direct.Body.Close())
	assert.Equal(t, http.StatusOK, direct.StatusCode, "the direct transport serves any address")
}

func TestPagesRefuseOtherSites(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, `"amount":5`)
	payer := url.Values{"payer": {"Kim"}}
	for _, foreign := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}, {"Origin", "null"},
	} {
		for _, c := range [][2]string{
			{"POST", "/pay/" + id}, {"POST", "/store/1/user"}, {"POST", "/store/1/buy"}, {"POST", "/_mock/payments/" + id + "/deposit"},
			{"PUT", "/_mock/webhook"}, {"DELETE", "/_mock/faults"}, {"POST", "/_mock/clock/next"},
		} {
			resp, _ := browse(t, s, c[0], c[1], payer, foreign...)
			assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%v with %v", c, foreign)
		}
	}
	p, _ := s.Payment(id)
	assert.Equal(t, mockserver.StatusCreated, p.Status)
	assert.Empty(t, s.StoreUsers())

	for i, own := range [][]string{{}, {"Sec-Fetch-Site", "same-origin"}, {"Origin", s.URL()}} {
		resp, _ := browse(t, s, "POST", "/pay/"+id, payer, own...)
		assert.Equal(t, http.StatusSeeOther, resp.StatusCode, i)
		assert.Equal(t, "/pay/"+id, resp.Header.Get("Location"))
	}
	status, _ := overSocket(t, s, "/_mock/payments/"+id+"/deposit", strings.NewReader("{}"))
	assert.Equal(t, http.StatusOK, status, "clients that are no browsers pass")
}

func TestPagesHeaders(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, "")
	for path, status := range map[string]int{
		"/pay/" + id: 200, "/pay/nobody": 404, "/pay": 404, "/store/1": 200, "/store/2": 404, "/store/01": 404, "/store/": 303,
		"/_page/style.css": 200, "/_page/live.js": 200, "/_page/layout.html": 404, "/_page/web.go": 404, "/_page/": 404, "/pay/" + id + "/more": 404,
	} {
		resp, body := browse(t, s, "GET", path, nil)
		assert.Equal(t, status, resp.StatusCode, path)
		policy := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			assert.Contains(t, policy, want, path)
		}
		assert.NotContains(t, policy, "unsafe", path)
		assert.NotContains(t, policy, "https:", path)
		assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "same-origin", resp.Header.Get("Referrer-Policy"), path)
		assert.NotContains(t, body, s.Token(), path)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && status != 303 {
			assert.Equal(t, "no-store", resp.Header.Get("Cache-Control"), path)
			assert.Contains(t, body, `<html lang="en">`, path)
		}
	}
	resp, _ := browse(t, s, "DELETE", "/pay/"+id, nil)
	assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	assert.Equal(t, "GET, POST", resp.Header.Get("Allow"))
	resp, body := browse(t, s, "HEAD", "/pay/"+id, nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Empty(t, body)
	resp, _ = browse(t, s, "POST", "/pay/"+id, url.Values{"payer": {strings.Repeat("x", 1<<20)}})
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode, "a form is bounded")
	resp, _ = browse(t, s, "GET", "/_page/style.css", nil, "If-None-Match", etag(t, s))
	assert.Equal(t, http.StatusNotModified, resp.StatusCode)
}

func etag(t *testing.T, s *mockserver.Server) string {
	t.Helper()
	resp, _ := browse(t, s, "GET", "/_page/style.css", nil)
	return resp.Header.Get("Etag")
}
