package mockserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/openapitest"
	"github.com/depositpay/depositpay-go/mockserver"
)

func payTokenOf(t *testing.T, answer string) string {
	t.Helper()
	var out struct{ PayToken string }
	require.NoError(t, json.Unmarshal([]byte(answer), &out))
	require.NotEmpty(t, out.PayToken, answer)
	return out.PayToken
}

// violations collects what is reported.
type violations struct {
	mu   sync.Mutex
	list []string
}

func (v *violations) Helper() {}

func (v *violations) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, fmt.Sprintf(format, args...))
}

func (v *violations) all() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.list, "\n")
}

// altered changes requests and answers on their way to a server.
type altered struct {
	next        http.RoundTripper
	old, change string
	status      int
	contentType string
}

func (a altered) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(strings.NewReader(strings.Replace(string(answer), a.old, a.change, 1)))
	if a.status != 0 {
		resp.StatusCode = a.status
	}
	if a.contentType != "" {
		resp.Header.Set("Content-Type", a.contentType)
	}
	return resp, nil
}

func parsedWith(t *testing.T, old, change string) *openapitest.Document {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	text := string(raw)
	if old != "" {
		require.Contains(t, text, old)
		text = strings.Replace(text, old, change, 1)
	}
	doc, err := openapitest.Parse([]byte(text))
	require.NoError(t, err)
	return doc
}

// aRound is a creation, a webhook that fails, a poll and a confirmation.
func aRound(t *testing.T, doc *openapitest.Document, alter altered) string {
	t.Helper()
	told := new(violations)
	s := stopped(t, withHook(answers(500)), func(c *mockserver.Config) {
		c.WebhookTransport = doc.Webhook(told, openapiWebhook, c.WebhookTransport)
	})
	alter.next = s.Transport()
	client := doc.Transport(told, alter)
	send := func(method, target, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+target, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	send("POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i","amount":5,"items":[{"name":"n","price":5}]}`)
	id := s.Payments()[0].ID
	deposit(t, s, id, 0)
	s.JumpToNextAttempt()
	s.Advance(0)
	send("GET", "/callback/webhook/status?token=test_demo&payToken="+id, "")
	send("GET", "/callback/rest?token=test_demo", "")
	send("POST", "/payments/confirm", named("test_demo", id))
	send("GET", "/callback/rest?token=test_demo", "")
	send("POST", "/payments", `{"token":"test_demo","title":"","identifier":"i"}`)
	send("GET", "/nowhere", "")
	return told.all()
}

// TestOpenAPICatchesAnswers: an answer that differs from the document is detected.
func TestOpenAPICatchesAnswers(t *testing.T) {
	t.Parallel()
	doc := parsedWith(t, "", "")
	require.Empty(t, aRound(t, doc, altered{}), "unaltered")
	for _, c := range []struct {
		alter altered
		want  string
	}{
		{altered{old: `"paid_amount":5`, change: `"paid_amount":"5"`}, "paid_amount"},
		{altered{old: `"paid_amount":5`, change: `"paid_amount":5.5`}, "paid_amount"},
		{altered{old: `"paid_amount":5`, change: `"paid_amount":9223372036854775808`}, "paid_amount"},
		{altered{old: `"paid_amount":5,`}, "paid_amount"},
		{altered{old: `"COMPLETE"`, change: `"PROGRESS"`}, "status"},
		{altered{old: `Z"`, change: `+00:00"`}, "_ts"},
		{altered{old: `{"id"`, change: `{"currency":"KRW","id"`}, "currency"},
		{altered{old: `"items"`, change: `"things"`}, "metadata"},
		{altered{old: `"price":5,`}, "price"},
		{altered{old: `"payToken":"`, change: `"payToken":"X`}, "payToken"},
		{altered{old: `"status":"pending"`, change: `"status":"open"`}, "status"},
		{altered{old: `NO_PROCESSED_PAYMENT`, change: `NOTHING`}, "error"},
		{altered{old: `NO_PROCESSED_PAYMENT`, change: `PAYMENT_NOT_FOUND`}, "error"},
		{altered{old: `INVALID_PARAMETER`, change: `INVALID_TOKEN`}, "was not refused"},
		{altered{old: `NOT_FOUND`, change: `INVALID_TOKEN`}, "not NOT_FOUND"},
		{altered{old: `{"id"`, change: `{"error":"INVALID_PARAMETER","error_msg":"m","id"`}, "error"},
		{altered{old: `{`, change: "\ufeff{"}, "no JSON"},
		{altered{status: 201}, "HTTP status 201"},
		{altered{contentType: "text/plain"}, "Content-Type"},
	} {
		assert.Contains(t, aRound(t, doc, c.alter), c.want, "%+v", c.alter)
	}
}

// TestOpenAPICatchesTheDocument: a document that differs from the server is detected, for
// requests, answers and webhooks.
func TestOpenAPICatchesTheDocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, change, want string }{
		{"minimum: 1\n", "minimum: 10\n", "forbids this request"},
		{"    Text:\n      type: string\n      minLength: 1", "    Text:\n      type: string", "allows this request"},
		{"        paid_amount:\n", "        paid_sum:\n", "paid_amount"},
		{"const: DepositPay-Payments-Webhook/1.0", "const: Other-Payments-Webhook/1.0", "User-Agent"},
		{"maximum: 9\n", "maximum: 0\n", "X-Retry-Count"},
		{"X-Webhook-ID\n", "X-Event-ID\n", "X-Event-ID"},
		{"  /callback/rest:", "  /callback/poll:", "does not have this request"},
		{"        last_error:\n", "        last_fault:\n", "last_error"},
	} {
		assert.Contains(t, aRound(t, parsedWith(t, c.old, c.change), altered{}), c.want, c.old)
	}
}

// TestOpenAPICatchesWebhooks: a webhook that differs from the document is detected.
func TestOpenAPICatchesWebhooks(t *testing.T) {
	t.Parallel()
	doc, body := parsedWith(t, "", ""), `{"payment_id":"7d3c1f0e-52a4-4c8b-9f1d-0a6be2b7c911"}`
	send := func(method, body string, header ...string) string {
		told := new(violations)
		req, err := http.NewRequestWithContext(t.Context(), method, hookURL, strings.NewReader(body))
		require.NoError(t, err)
		header = append([]string{"Content-Type", "application/json", "User-Agent", "DepositPay-Payments-Webhook/1.0",
			"X-Webhook-ID", "c0a1d0c4-6f1b-4a51-9d6e-5f3b1f6f3a55", "X-Retry-Count", "9"}, header...)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := doc.Webhook(told, openapiWebhook, answers(500)).RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return told.all()
	}
	require.Empty(t, send("POST", body), "as described")
	assert.Contains(t, send("PUT", body), "not POST")
	assert.Contains(t, send("POST", body, "Content-Type", "text/plain"), "Content-Type")
	assert.Contains(t, send("POST", body, "User-Agent", "curl"), "User-Agent")
	assert.Contains(t, send("POST", body, "X-Webhook-ID", "1"), "X-Webhook-ID")
	assert.Contains(t, send("POST", body, "X-Retry-Count", "10"), "X-Retry-Count")
	assert.Contains(t, send("POST", body, "X-Retry-Count", "one"), "X-Retry-Count")
	assert.Contains(t, send("POST", strings.ToUpper(body)), "payment_id")
	assert.Contains(t, send("POST", `{"amount":1,`+body[1:]), "amount")
	assert.Contains(t, send("POST", ""), "no JSON")
}
