package mockserver_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func dialect(t *testing.T, text string) mockserver.Dialect {
	t.Helper()
	d, err := mockserver.ParseDialect(text)
	require.NoError(t, err)
	return d
}

// speaking is a server whose first application speaks a dialect.
func speaking(t *testing.T, text string, change ...func(*mockserver.Config)) *mockserver.Server {
	t.Helper()
	s := stopped(t, change...)
	require.NoError(t, s.SetDialect(s.Token(), dialect(t, text)))
	return s
}

func TestDialectTextRoundTrips(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range mockserver.Dialects() {
		again, err := mockserver.ParseDialect(d.String())
		require.NoError(t, err)
		require.Equal(t, d, again)
		encoded, err := json.Marshal(d)
		require.NoError(t, err)
		again = mockserver.Dialect{}
		require.NoError(t, json.Unmarshal(encoded, &again))
		require.Equal(t, d, again)
		seen[d.String()] = true
	}
	options := 1
	for _, o := range mockserver.DialectOptions() {
		options *= len(o.Values)
	}
	assert.Len(t, seen, options, "every combination, each once")
	assert.Equal(t, mockserver.Dialect{}, mockserver.Dialects()[0])
	assert.Equal(t, mockserver.Dialect{}, dialect(t, ""))
	assert.Equal(t, "default", mockserver.Dialect{}.String())
	assert.Equal(t, "envelope=data,errors=object,empty=null", dialect(t, "empty=null, envelope=data,errors=object,status=200").String())
	assert.Equal(t, "envelope=old,empty=null", dialect(t, "old,empty=null").String(), "a pair changes the preset")
	assert.Equal(t, "envelope=data,errors=object,status=4xx,empty=204", dialect(t, "rest").String())
}

func TestParseDialectRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"envelope=box":               "envelope cannot be \"box\"; use one of flat, payment, data, result, old",
		"wrapper=data":               "no option is called \"wrapper\"; use one of envelope, errors, status, empty, extra, error_null",
		"strange":                    "no preset is called \"strange\"; use one of default, old, rest, codes, noisy",
		"extra=yes,extra=no":         "\"extra\" is given twice",
		"extra=yes,old":              "no option is called \"old\"",
		"extra=yes,":                 "no option is called \"\"",
		strings.Repeat("x", 1000):    "no preset is called \"" + strings.Repeat("x", 40) + "\"",
		"status=" + "4xx\x00garbage": "status cannot be \"4xx\\x00garbage\"",
	} {
		_, err := mockserver.ParseDialect(text)
		require.ErrorContains(t, err, want)
		d := dialect(t, "noisy")
		require.Error(t, d.UnmarshalText([]byte(text)))
		require.Equal(t, dialect(t, "noisy"), d, "a failed reading changes nothing")
	}
	wantCode(t, mockserver.CodeInvalidToken, stopped(t).SetDialect("test_nobody", mockserver.Dialect{}))
}

// words is what a dialect makes of each answer; ID replaces the payment's id.
type words struct{ record, confirmed, created, empty, refused, list string }

const (
	fields    = `"identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":9223372036854775807,"verified_ts":"2025-03-01T12:00:00Z","metadata":{"items":[{"name":"a\u0001\"","price":3,"count":1}]}`
	oldFields = `"identifier":"order-1","method":"DEPOSIT","paidAmount":9223372036854775807,"metadata":{"items":[{"name":"a\u0001\"","price":3,"count":1}]}`
	notFound  = `no payment has this payToken; send the payToken of POST /payments or the payment_id of the webhook`
	noPayment = `no payment is waiting in PROGRESS; ask again in 3 to 5 seconds`
)

func TestDialectWords(t *testing.T) {
	t.Parallel()
	flat := words{
		record: `{"id":"ID",` + fields + `}`, confirmed: `{"id":"ID",` + fields + `}`, created: `{"payToken":"ID"}`,
		empty:   `200 {"error":"NO_PROCESSED_PAYMENT","error_msg":"` + noPayment + `"}`,
		refused: `200 {"error":"PAYMENT_NOT_FOUND","error_msg":"` + notFound + `"}`,
		list:    `[{"name"`,
	}
	for text, change := range map[string]func(*words){
		"default": func(*words) {},
		"envelope=payment": func(w *words) {
			w.record = `{"payment":` + w.record + `}`
			w.confirmed = w.record
		},
		"old": func(w *words) {
			w.record = `{"payment":{` + oldFields + `}}`
			w.confirmed = `{"payment":{"id":"ID",` + strings.Replace(fields, "paid_amount", "paidAmount", 1) + `}}`
			w.empty = `200 {"error":"NO_PROGRESS_PAYMENTS","error_msg":"` + noPayment + `"}`
		},
		"rest": func(w *words) {
			w.record, w.created, w.list = `{"data":`+w.record+`}`, `{"data":`+w.created+`}`, `{"data":[{"name"`
			w.confirmed = w.record
			w.empty = `204 `
			w.refused = `404 {"error":{"code":"PAYMENT_NOT_FOUND","message":"` + notFound + `"}}`
		},
		"codes": func(w *words) {
			w.record, w.created, w.list = `{"result":`+w.record+`}`, `{"result":`+w.created+`}`, `{"result":[{"name"`
			w.confirmed = w.record
			w.empty = `200 null`
			w.refused = `200 {"code":"PAYMENT_NOT_FOUND","message":"` + notFound + `"}`
		},
		"noisy": func(w *words) {
			const noise, beside = `{"error":null,"server":{"zone":"a","tags":["}",-0.0]},"fee":1e2,"note":null,`, `,"request_id":"r-1","elapsed_ms":1.5e0,"hint":null}`
			w.record, w.created = noise+w.record[1:], noise+w.created[1:]
			w.confirmed = w.record
			w.empty, w.refused = strings.TrimSuffix(w.empty, "}")+beside, strings.TrimSuffix(w.refused, "}")+beside
		},
		"empty={}":      func(w *words) { w.empty = `200 {}` },
		"empty=nothing": func(w *words) { w.empty = `200 ` },
		"status=4xx":    func(w *words) { w.empty, w.refused = "404"+w.empty[3:], "404"+w.refused[3:] },
		"envelope=data,error_null=yes": func(w *words) {
			w.record, w.created = `{"error":null,"data":`+w.record+`}`, `{"error":null,"data":`+w.created+`}`
			w.confirmed = w.record
			w.list = `{"error":null,"data":[{"name"`
		},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			want := flat
			change(&want)
			s := speaking(t, text)
			said := func(method, target, body string) string {
				status, answer := call(t, s, method, target, body)
				return strconv.Itoa(status) + " " + answer
			}
			created := said("POST", "/payments", `{"token":"test_demo","title":"T","identifier":"order-1","items":[{"name":"a\u0001\"","price":3}]}`)
			id := s.Payments()[0].ID
			named := func(text string) string { return strings.ReplaceAll(text, "ID", id) }
			assert.Equal(t, named("200 "+want.created), created)
			deposit(t, s, id, 9223372036854775807)
			assert.Equal(t, named("200 "+want.record), said("GET", "/callback/rest?token=test_demo", ""))
			assert.Equal(t, want.empty, said("GET", "/callback/rest?token=test_demo", ""))
			assert.Equal(t, named("200 "+want.confirmed), said("POST", "/payments/confirm", `{"token":"test_demo","payToken":"`+id+`"}`))
			assert.Equal(t, want.refused, said("POST", "/payments/confirm", `{"token":"test_demo","payToken":"x"}`))
			assert.True(t, strings.HasPrefix(said("GET", "/mobile/banks", ""), "200 "+want.list))
		})
	}
}

// Each application has its own dialect; who names none is answered as the first one,
// and a stranger in the default.
func TestDialectOfARequest(t *testing.T) {
	t.Parallel()
	s := speaking(t, "errors=code", func(c *mockserver.Config) { c.Applications = apps("test_a", "test_b") })
	require.NoError(t, s.SetDialect("test_b", dialect(t, "errors=object")))
	for target, want := range map[string]string{
		"/callback/rest?token=test_a": `{"code":"NO_PROCESSED_PAYMENT",`,
		"/callback/rest?token=test_b": `{"error":{"code":"NO_PROCESSED_PAYMENT",`,
		"/callback/rest?token=test_c": `{"error":"INVALID_TOKEN",`,
		"/callback/rest":              `{"code":"INVALID_PARAMETER",`,
		"/mobile/banks?details=x":     `{"code":"INVALID_PARAMETER",`,
		"/nowhere":                    `{"code":"NOT_FOUND",`,
	} {
		assert.Contains(t, api(t, s, "GET", target, ""), want, target)
	}
	for body, want := range map[string]string{
		`{"token":"test_a"}`: `{"code":"INVALID_PARAMETER",`,
		`{"token":"test_b"}`: `{"error":{"code":"INVALID_PARAMETER",`,
		`{"token":"test_c"}`: `{"error":"INVALID_PARAMETER",`,
		`{"token":"test_b`:   `{"code":"INVALID_JSON",`,
	} {
		assert.Contains(t, api(t, s, "POST", "/payments", body), want, body)
	}
	require.NoError(t, s.SetDialect("test_a", mockserver.Dialect{}))
	require.NoError(t, s.SetDialect("test_b", mockserver.Dialect{}))
	assert.Contains(t, api(t, s, "GET", "/callback/rest?token=test_b", ""), `{"error":"NO_PROCESSED_PAYMENT",`, "and back again")
}

func TestDialectStatuses(t *testing.T) {
	t.Parallel()
	s := speaking(t, "status=4xx", func(c *mockserver.Config) { c.MaxPayments = 1 })
	const create = `{"token":"test_demo","title":"T","identifier":"i"}`
	for _, step := range []struct {
		method, target, body string
		want                 int
	}{
		{"POST", "/payments", create, 200},
		{"POST", "/payments", create, 507},
		{"POST", "/payments", `{"token":"test_demo"`, 400},
		{"POST", "/payments", `{"token":"test_demo"}`, 400},
		{"POST", "/payments", strings.Repeat("x", 65<<10), 413},
		{"GET", "/payments?token=test_demo", "", 405},
		{"GET", "/nowhere?token=test_demo", "", 404},
		{"GET", "/callback/rest?token=test_demo", "", 404},
		{"GET", "/callback/webhook/status?token=test_demo&payToken=x", "", 404},
		{"POST", "/payments/confirm", `{"token":"test_demo","payToken":"` + "ID" + `"}`, 409},
	} {
		body := step.body
		if list := s.Payments(); len(list) > 0 {
			body = strings.ReplaceAll(body, "ID", list[0].ID)
		}
		status, answer := call(t, s, step.method, step.target, body)
		assert.Equal(t, step.want, status, "%s %s: %s", step.method, step.target, answer)
		assert.Equal(t, step.want, s.Requests()[len(s.Requests())-1].Status, "the log has the status")
	}
	// Its token says nothing of a dialect, so a stranger's status is the default's; the
	// first application's is what a request without one gets.
	status, _ := call(t, s, "GET", "/callback/rest?token=test_nobody", "")
	assert.Equal(t, 200, status)
	status, _ = call(t, s, "GET", "/callback/rest", "")
	assert.Equal(t, 400, status)
}
