package mockserver_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// control calls the control API and checks the status.
func control(t *testing.T, s *mockserver.Server, want int, method, path, body string) string {
	t.Helper()
	status, answer := call(t, s, method, "/_mock"+path, body)
	assert.Equal(t, want, status, answer)
	return answer
}

func TestControlDeposit(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	fixed, free := create(t, s, `"amount":300`), create(t, s, "")
	assert.Equal(t, `{"id":"`+fixed+`","identifier":"order-1","status":"PROGRESS","method":"DEPOSIT","paid_amount":300}`,
		control(t, s, 200, "POST", "/payments/"+fixed+"/deposit", ""))
	path := "/payments/" + free + "/deposit"
	for _, c := range []struct {
		status int
		code   mockserver.Code
		body   string
	}{
		{400, mockserver.CodeInvalidParameter, ``},
		{400, mockserver.CodeInvalidParameter, `{"amount":"1"}`},
		{400, mockserver.CodeInvalidParameter, `{"amount":0}`},
		{400, mockserver.CodeInvalidParameter, `{"amount":-1}`},
		{400, mockserver.CodeInvalidParameter, `{"amount":1e1000000000}`},
		{400, mockserver.CodeInvalidParameter, `{"amount":1,"method":7}`},
		{400, mockserver.CodeInvalidParameter, `{"amount":1,"payer":[]}`},
		{400, mockserver.CodeInvalidJSON, `{`},
	} {
		wantError(t, c.code, control(t, s, c.status, "POST", path, c.body))
	}
	assert.Contains(t, control(t, s, 200, "POST", path, `{"payer":"Kim","amount":10000,"method":"CULTURE"}`),
		`"method":"CULTURE","paid_amount":10000`)
	assert.Equal(t, "Kim", s.Payments()[1].Payer)
	wantError(t, mockserver.CodePaymentAlreadyPaid, control(t, s, 409, "POST", path, `{"amount":1}`))
	wantError(t, mockserver.CodePaymentNotFound, control(t, s, 404, "POST", "/payments/nobody/deposit", `{"amount":1}`))
	wantError(t, mockserver.CodeMethodNotAllowed, control(t, s, 405, "GET", path, ""))
	wantError(t, mockserver.CodeNotFound, control(t, s, 404, "POST", "/payments/a/b/deposit", ""))
	wantError(t, mockserver.CodeNotFound, control(t, s, 404, "GET", "/nothing", ""))
}

func TestControlFailedVoucher(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	assert.Contains(t, control(t, s, 200, "POST", "/payments/"+create(t, s, "")+"/deposit", `{"amount":0,"method":"CULTURE"}`),
		`"method":"CULTURE","paid_amount":0`)
}

func TestControlWebhookAndDeliveries(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(http.StatusTeapot)))
	assert.Equal(t, `{"deliveries":[]}`, control(t, s, 200, "GET", "/deliveries", ""))
	assert.Equal(t, `{"url":""}`, control(t, s, 200, "PUT", "/webhook", `{"token":"test_demo","url":""}`))
	first := create(t, s, "")
	control(t, s, 200, "POST", "/payments/"+first+"/deposit", `{"amount":1}`)
	assert.Empty(t, s.Deliveries())

	target := "http://127.0.0.1:1/h?key=test_demo"
	assert.Equal(t, `{"url":"`+target+`"}`, control(t, s, 200, "PUT", "/webhook", `{"token":"test_demo","url":"`+target+`"}`))
	second := create(t, s, "")
	control(t, s, 200, "POST", "/payments/"+second+"/deposit", `{"amount":1}`)
	assert.Equal(t, `{"now":"2025-03-01T12:00:01Z"}`, control(t, s, 200, "POST", "/clock/advance", `{"duration":"1s"}`))
	id := onlyDelivery(t, s).WebhookID
	attempt := func(n, ts string) string {
		return `{"payment_id":"` + second + `","webhook_id":"` + id + `","retry_count":` + n +
			`,"url":"http://127.0.0.1:1/h?key=[REDACTED]","due_ts":"` + ts +
			`","started_ts":"` + ts + `","ended_ts":"` + ts + `","http_status":418,"error":"answered HTTP 418, only 200 counts"}`
	}
	a0, a1 := attempt("0", "2025-03-01T12:00:00Z"), attempt("1", "2025-03-01T12:00:05Z")
	assert.Equal(t, `{"now":"2025-03-01T12:00:05Z","attempt":`+a1+`}`, control(t, s, 200, "POST", "/clock/next", ""))
	assert.JSONEq(t, `{"deliveries":[{"payment_id":"`+second+`","title":"T","webhook_id":"`+id+`","url":"http://127.0.0.1:1/h?key=[REDACTED]",
		"status":"pending","next_attempt_ts":"2025-03-01T12:05:05Z","attempts":[`+a0+`,`+a1+`]}]}`,
		control(t, s, 200, "GET", "/deliveries", ""))
	confirm(t, s, second)
	assert.Equal(t, `{"now":"2025-03-01T12:05:05Z"}`, control(t, s, 200, "POST", "/clock/next", ""))

	wantError(t, mockserver.CodeInvalidToken, control(t, s, 400, "PUT", "/webhook", `{"token":"test_x","url":""}`))
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", "/webhook", `{"token":"test_demo"}`), "url")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", "/webhook", `{"url":""}`), "token")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", "/webhook", `{"token":"test_demo","url":5}`), "url")
	wantError(t, mockserver.CodeInvalidParameter,
		control(t, s, 400, "PUT", "/webhook", `{"token":"test_demo","url":"http://shop.example/"}`), "loopback")
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "PUT", "/webhook", ``))
}

func TestControlClockErrors(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for _, d := range []string{`"-1s"`, `"5"`, `"abc"`, `"87601h"`, `""`, `5`, `null`} {
		wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", "/clock/advance", `{"duration":`+d+`}`), "duration")
	}
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "POST", "/clock/advance", ""))
	wantError(t, mockserver.CodeMethodNotAllowed, control(t, s, 405, "GET", "/clock/advance", ""))
	assert.Equal(t, start, s.Now())
	assert.Equal(t, `{"now":"2025-03-01T12:00:00Z"}`, control(t, s, 200, "POST", "/clock/next", ""))
	s.Advance(-3600e9)
	assert.Equal(t, start, s.Now(), "a clock does not go back")
	for range 20 {
		control(t, s, 200, "POST", "/clock/advance", `{"duration":"87600h"}`)
	}
	assert.Equal(t, start.Add(100*365*24*3600e9), s.Now(), "a clock moves by 100 years in all")
}

func TestControlPaymentsAndRequests(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	assert.Equal(t, `{"payments":[]}`, control(t, s, 200, "GET", "/payments", ""))
	assert.Equal(t, `{"requests":[]}`, control(t, s, 200, "GET", "/requests", ""))
	a, b := create(t, s, ""), create(t, s, `"items":[{"name":"n","price":1}]`)
	deposit(t, s, b, 1)
	assert.Equal(t, `{"payments":[{"id":"`+b+`","application":"Application 1","identifier":"order-1","title":"T",`+
		`"items":[{"name":"n","price":1,"count":1}],"status":"PROGRESS","payer":"Kim","method":"DEPOSIT","paid_amount":1,`+
		`"completions":0,"created_ts":"2025-03-01T12:00:00Z","deposited_ts":"2025-03-01T12:00:00Z"},`+
		`{"id":"`+a+`","application":"Application 1","identifier":"order-1","title":"T","status":"CREATED","paid_amount":0,`+
		`"completions":0,"created_ts":"2025-03-01T12:00:00Z"}]}`, control(t, s, 200, "GET", "/payments", ""))
	assert.Equal(t, `{"id":"`+b+`","identifier":"order-1","status":"PROGRESS","method":"DEPOSIT","paid_amount":1,`+
		`"metadata":{"items":[{"name":"n","price":1,"count":1}]}}`, control(t, s, 200, "GET", "/payments/"+b+"/record", ""))
	var out struct{ Requests []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(control(t, s, 200, "GET", "/requests", "")), &out))
	require.Len(t, out.Requests, 2, "control requests are not logged")
	assert.Equal(t, map[string]any{
		"number": 1.0, "ts": "2025-03-01T12:00:00Z", "method": "POST", "path": "/payments", "query": "", "status": 200.0,
		"body":     `{"token":"[REDACTED]","title":"T","identifier":"order-1"}`,
		"response": `{"payToken":"` + a + `"}`,
	}, out.Requests[1], "newest first")
}
