package mockserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/mockserver"
)

var start = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	// Away from UTC, a timestamp that is not converted shows.
	time.Local = time.FixedZone("KST", 9*60*60)
	goleak.VerifyTestMain(closing{m})
}

// stopped is a server without a socket whose clock moves only by hand.
func stopped(t *testing.T, change ...func(*mockserver.Config)) *mockserver.Server {
	t.Helper()
	cfg := mockserver.Config{Clock: mockserver.NewStoppedClock(start)}
	for _, f := range change {
		f(&cfg)
	}
	cfg.WebhookTransport = describedHook(t, cfg.WebhookTransport)
	s, err := mockserver.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// call sends one request past the socket and returns status and body.
func call(t *testing.T, s *mockserver.Server, method, target, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+target, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := described(t, s, req.URL.Path).RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, int64(len(answer)), resp.ContentLength)
	return resp.StatusCode, string(answer)
}

// api is call for the service's own endpoints, whose status is always 200.
func api(t *testing.T, s *mockserver.Server, method, target, body string) string {
	t.Helper()
	status, answer := call(t, s, method, target, body)
	assert.Equal(t, http.StatusOK, status)
	return answer
}

func create(t *testing.T, s *mockserver.Server, fields string) string {
	t.Helper()
	if fields != "" {
		fields = "," + fields
	}
	answer := api(t, s, "POST", "/payments", `{"token":"`+s.Token()+`","title":"T","identifier":"order-1"`+fields+`}`)
	var out struct{ PayToken string }
	require.NoError(t, json.Unmarshal([]byte(answer), &out))
	require.NotEmpty(t, out.PayToken, answer)
	return out.PayToken
}

func poll(t *testing.T, s *mockserver.Server) string {
	t.Helper()
	return api(t, s, "GET", "/callback/rest?token="+s.Token(), "")
}

func confirm(t *testing.T, s *mockserver.Server, id string) string {
	t.Helper()
	return api(t, s, "POST", "/payments/confirm", `{"payToken":"`+id+`","token":"`+s.Token()+`"}`)
}

func deposit(t *testing.T, s *mockserver.Server, id string, amount int64) {
	t.Helper()
	_, err := s.Deposit(id, mockserver.Deposit{Payer: "Kim", Amount: amount})
	require.NoError(t, err)
}

// paid is a new payment with a deposit of 1.
func paid(t *testing.T, s *mockserver.Server) string {
	t.Helper()
	id := create(t, s, "")
	deposit(t, s, id, 1)
	return id
}

// wantError checks the error shape: flat, exactly error and error_msg.
func wantError(t *testing.T, code mockserver.Code, answer string, mentions ...string) {
	t.Helper()
	var out map[string]string
	require.NoError(t, json.Unmarshal([]byte(answer), &out), answer)
	assert.Equal(t, string(code), out["error"], answer)
	assert.Len(t, out, 2, answer)
	assert.Greater(t, len(out["error_msg"]), 15, "the message should help: %s", answer)
	for _, word := range mentions {
		assert.Contains(t, out["error_msg"], word)
	}
}

func wantCode(t *testing.T, code mockserver.Code, err error) {
	t.Helper()
	var e *mockserver.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code)
	assert.Contains(t, err.Error(), string(code))
}

// hook is a webhook receiver without a socket.
type hook func(*http.Request, string) (int, error)

func (h hook) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	status, err := h(r, string(body))
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(&bytes.Buffer{}), Request: r}, nil
}

const hookURL = "http://127.0.0.1:9/hook"

// hooked is one application with the default token and a webhook URI.
var hooked = []mockserver.Application{{WebhookURL: hookURL}}

// apps are applications with these tokens.
func apps(tokens ...string) []mockserver.Application {
	var list []mockserver.Application
	for _, token := range tokens {
		list = append(list, mockserver.Application{Token: token})
	}
	return list
}

func withHook(h hook) func(*mockserver.Config) {
	return func(c *mockserver.Config) { c.Applications, c.WebhookTransport = hooked, h }
}

// answers is a hook that always answers with the same status.
func answers(status int) hook {
	return func(*http.Request, string) (int, error) { return status, nil }
}

// hangs is a hook that never answers; each attempt is reported on the channel.
func hangs(begun chan<- string) hook {
	return func(r *http.Request, _ string) (int, error) {
		begun <- r.Header.Get("X-Retry-Count")
		<-r.Context().Done()
		return 0, r.Context().Err()
	}
}

func patience(d time.Duration) func(*mockserver.Config) {
	return func(c *mockserver.Config) { c.Patience = d }
}

func webhookStatus(t *testing.T, s *mockserver.Server, id string) string {
	t.Helper()
	return api(t, s, "GET", "/callback/webhook/status?token="+s.Token()+"&payToken="+url.QueryEscape(id), "")
}

func resend(t *testing.T, s *mockserver.Server, id string) string {
	t.Helper()
	return api(t, s, "POST", "/callback/webhook/resend", `{"payToken":"`+id+`","token":"`+s.Token()+`"}`)
}

// onlyDelivery returns the one delivery of a server.
func onlyDelivery(t *testing.T, s *mockserver.Server) mockserver.Delivery {
	t.Helper()
	list := s.Deliveries()
	require.Len(t, list, 1)
	return list[0]
}

// overSocket posts a body through a real connection.
func overSocket(t *testing.T, s *mockserver.Server, path string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, body)
	require.NoError(t, err)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}
