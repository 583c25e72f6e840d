package mockserver_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/depositpay/depositpay-go/internal/test/openapitest"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestOpenAPIControlRoutes: the document has every call of the control API, and no other.
func TestOpenAPIControlRoutes(t *testing.T) {
	t.Parallel()
	doc, err := openapiControl()
	require.NoError(t, err)
	var described []string
	for _, op := range doc.Operations() {
		described = append(described, strings.Replace(op, "/_mock", "", 1))
	}
	assert.ElementsMatch(t, mockserver.ControlRoutes(), described)
}

// TestOpenAPIControlServed: the document is served unchanged.
func TestOpenAPIControlServed(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	text, err := os.ReadFile("openapi_control.yaml")
	require.NoError(t, err)
	resp, body := browse(t, s, "GET", "/_mock/openapi.yaml", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, "application/yaml", resp.Header.Get("Content-Type"))
	assert.Equal(t, string(text), body)
}

// controlCalls are all calls of the control API, each with its required fields. What is
// in angle brackets is an id from an earlier answer.
const controlCalls = `
PUT /applications {"token":"test_second"}
GET /applications
PUT /webhook {"token":"test_demo","url":"http://127.0.0.1:9/hook"}
GET /account
GET /payments
GET /payments/<id>
GET /payments/<id>/record
PUT /payments/<id>/payer {"payer":"Kim"}
POST /payments/<id>/deposit
GET /payments?status=PROGRESS&limit=1
GET /clock/attempts
GET /summary
POST /clock/next
POST /payments/<id>/deliver
POST /payments/<id>/resend
GET /payments/<id>/timeline
GET /payments/<id>/delivery
GET /deliveries
PUT /products {"name":"Sword","price":5}
GET /products
PUT /users {"id":"u","name":"Lee"}
GET /users
POST /buy {"product":"<product>","user":"u"}
DELETE /products/<product>
POST /notifications {"package":"com.kbstar.kbbank","payer":"Nobody","amount":9}
GET /notifications
GET /unmatched
POST /unmatched/<deposit_id>/dismiss
POST /notifications {"package":"com.kbstar.kbbank","payer":"Somebody","amount":9}
POST /unmatched/<deposit_id>/resolve {"payToken":"<bought>"}
POST /faults {"operation":"next","kind":"html"}
GET /callback/rest
GET /requests
GET /faults
DELETE /faults/0
POST /faults {"rate":0.5,"seed":1}
DELETE /faults
GET /clock
POST /clock/advance {"duration":"5m"}
POST /reset {"application":"Application 1"}`

// controlRound makes every call through a document and returns what that has against it.
func controlRound(t *testing.T, doc *openapitest.Document, alter altered) string {
	t.Helper()
	told := new(violations)
	s := stopped(t, withHook(answers(500)))
	id := create(t, s, `"amount":5`)
	alter.next = s.Transport()
	client := doc.Transport(told, alter)
	for line := range strings.Lines(strings.TrimSpace(controlCalls)) {
		known := []string{"<id>", id, "<bought>", s.Payments()[len(s.Payments())-1].ID}
		for _, u := range s.Unmatched() {
			known = append(known, "<deposit_id>", u.Notification.ID)
		}
		for _, p := range s.Products() {
			known = append(known, "<product>", p.ID)
		}
		line = strings.NewReplacer(known...).Replace(strings.TrimSpace(line))
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(path, "/callback") {
			poll(t, s)
			continue
		}
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/_mock"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		s.Advance(0)
	}
	return told.all()
}

// TestOpenAPIControlCalls: every call succeeds once, as the document says.
func TestOpenAPIControlCalls(t *testing.T) {
	t.Parallel()
	doc, err := parseFile("openapi_control.yaml")
	require.NoError(t, err)
	assert.Empty(t, controlRound(t, doc, altered{}))
	assert.Empty(t, doc.Uncovered(), "calls that the document has and nothing has shown")
}

// TestOpenAPIControlCatches: a field, a status or a call that the document lacks is
// detected.
func TestOpenAPIControlCatches(t *testing.T) {
	t.Parallel()
	doc, err := parseFile("openapi_control.yaml")
	require.NoError(t, err)
	for _, c := range []struct {
		alter altered
		want  string
	}{
		{altered{old: `"completions"`, change: `"currency":"KRW","completions"`}, "currency"},
		{altered{old: `"title":"T",`}, "title"},
		{altered{old: `"delivery":"pending"`, change: `"delivery":"open"`}, "delivery"},
		{altered{old: `:00Z"`, change: `:00.5Z"`}, "_ts"},
		{altered{old: `"result":"UNMATCHED"`, change: `"result":"LOST"`}, "result"},
		{altered{old: `{}`, change: `{"done":true}`}, "maxProperties"},
		{altered{status: 400}, "error"},
		{altered{contentType: "text/plain"}, "Content-Type"},
	} {
		assert.Contains(t, controlRound(t, doc, c.alter), c.want, "%+v", c.alter)
	}
	raw, err := os.ReadFile("openapi_control.yaml")
	require.NoError(t, err)
	for _, c := range []struct{ old, change, want string }{
		{"  /_mock/summary:", "  /_mock/state:", "missing properties 'error', 'error_msg'"},
		{"        completions: {", "        times: {", "completions"},
		{"required: [duration]", "required: [by]", "was not refused"},
		{"        kind: {type: string}\n", "", "kind"},
	} {
		require.Contains(t, string(raw), c.old)
		doc, err := openapitest.Parse([]byte(strings.Replace(string(raw), c.old, c.change, 1)))
		require.NoError(t, err, c.old)
		assert.Contains(t, controlRound(t, doc, altered{}), c.want, c.old)
	}
}

// TestOpenAPIControlCodes: the document has the error codes of the package, except that of
// an empty poll.
func TestOpenAPIControlCodes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi_control.yaml")
	require.NoError(t, err)
	var tree struct {
		Components struct {
			Schemas struct {
				Code struct{ Enum []string } `yaml:"Code"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &tree))
	assert.ElementsMatch(t, declaredCodes(t), append(tree.Components.Schemas.Code.Enum, "NO_PROCESSED_PAYMENT"))
}
