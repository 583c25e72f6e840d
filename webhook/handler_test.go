package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

const someID = "11111111-2222-4333-8444-555555555555"

// TestMalformed: a malformed request gets the status of its defect, and causes no confirm.
func TestMalformed(t *testing.T) {
	t.Parallel()
	const good = `{"payment_id":"` + someID + `"}`
	tests := map[string]struct {
		method, contentType, body string
		strict                    bool
		want                      int
	}{
		"GET":                          {method: "GET", body: good, want: 405},
		"HEAD":                         {method: "HEAD", body: good, want: 405},
		"PUT":                          {method: "PUT", body: good, want: 405},
		"OPTIONS":                      {method: "OPTIONS", body: good, want: 405},
		"no content type":              {contentType: "-", body: good, want: 415},
		"form":                         {contentType: "application/x-www-form-urlencoded", body: good, want: 415},
		"text":                         {contentType: "text/plain; charset=utf-8", body: good, want: 415},
		"json look-alike":              {contentType: "application/jsonp", body: good, want: 415},
		"problem json":                 {contentType: "application/problem+json", body: good, want: 415},
		"4097 bytes":                   {body: strings.Repeat(" ", 4097-len(good)) + good, want: 413},
		"1 MiB":                        {body: strings.Repeat(" ", 1<<20), want: 413},
		"empty":                        {body: ``, want: 400},
		"spaces":                       {body: `   `, want: 400},
		"null":                         {body: `null`, want: 400},
		"text body":                    {body: `"` + someID + `"`, want: 400},
		"number":                       {body: `1`, want: 400},
		"array":                        {body: `[` + good + `]`, want: 400},
		"empty object":                 {body: `{}`, want: 400},
		"unclosed":                     {body: `{"payment_id":"` + someID + `"`, want: 400},
		"trailing comma":               {body: `{"payment_id":"` + someID + `",}`, want: 400},
		"trailing garbage":             {body: good + `x`, want: 400},
		"two objects":                  {body: good + good, want: 400},
		"NUL behind":                   {body: good + "\x00", want: 400},
		"byte order mark":              {body: "\xef\xbb\xbf" + good, want: 400},
		"UTF-16":                       {body: "\xff\xfe{\x00}\x00", want: 400},
		"broken UTF-8 in a value":      {body: `{"a":"` + "\xff" + `","payment_id":"` + someID + `"}`, want: 400},
		"comment":                      {body: `/**/` + good, want: 400},
		"single quotes":                {body: `{'payment_id':'` + someID + `'}`, want: 400},
		"another name":                 {body: `{"id":"` + someID + `"}`, want: 400},
		"another case":                 {body: `{"Payment_ID":"` + someID + `"}`, want: 400},
		"name with space":              {body: `{"payment_id ":"` + someID + `"}`, want: 400},
		"nested":                       {body: `{"payment":` + good + `}`, want: 400},
		"value null":                   {body: `{"payment_id":null}`, want: 400},
		"value number":                 {body: `{"payment_id":11111111}`, want: 400},
		"value object":                 {body: `{"payment_id":{"a":1}}`, want: 400},
		"value array":                  {body: `{"payment_id":["` + someID + `"]}`, want: 400},
		"value empty":                  {body: `{"payment_id":""}`, want: 400},
		"value no UUID":                {body: `{"payment_id":"order-1"}`, want: 400},
		"value without hyphens":        {body: `{"payment_id":"11111111222243338444555555555555"}`, want: 400},
		"value with braces":            {body: `{"payment_id":"{` + someID + `}"}`, want: 400},
		"value as URN":                 {body: `{"payment_id":"urn:uuid:` + someID + `"}`, want: 400},
		"value with space":             {body: `{"payment_id":"` + someID + ` "}`, want: 400},
		"value not hex":                {body: `{"payment_id":"g1111111-2222-4333-8444-555555555555"}`, want: 400},
		"value hyphens misplaced":      {body: `{"payment_id":"111111112-222-4333-8444-555555555555"}`, want: 400},
		"nil UUID":                     {body: `{"payment_id":"00000000-0000-0000-0000-000000000000"}`, want: 400},
		"twice":                        {body: `{"payment_id":"` + someID + `","payment_id":"` + someID + `"}`, want: 400},
		"twice, once escaped":          {body: `{"payment_id":"` + someID + `","payment\u005fid":"` + someID + `"}`, want: 400},
		"twice, second unreadable":     {body: `{"payment_id":"` + someID + `","payment_id":1}`, want: 400},
		"strict: another field":        {strict: true, body: `{"payment_id":"` + someID + `","a":1}`, want: 400},
		"strict: another field before": {strict: true, body: `{"a":1,"payment_id":"` + someID + `"}`, want: 400},
		"deep nesting":                 {body: strings.Repeat(`[`, 4000), want: 400},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newService()
			h := newHandler(t, webhook.Config{Client: client, Strict: test.strict})
			r := delivery(test.body)
			if test.method != "" {
				r.Method = test.method
			}
			switch test.contentType {
			case "":
			case "-":
				r.Header.Del("Content-Type")
			default:
				r.Header.Set("Content-Type", test.contentType)
			}
			w := serve(h, r)
			assert.Equal(t, test.want, w.Code)
			assert.Zero(t, client.calls.Load(), "the service was asked")
			assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
			assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			if test.want == http.StatusMethodNotAllowed {
				assert.Equal(t, "POST", w.Header().Get("Allow"))
			}
			e := h.seen.last(t)
			assert.Equal(t, webhook.OutcomeMalformed, e.Outcome)
			assert.Equal(t, test.want, e.Status)
			assert.Equal(t, uuid.Nil, e.PaymentID)
			require.Error(t, e.Err)
			assert.NotContains(t, e.Err.Error(), someID, "the error quotes the body")
		})
	}
}

// TestWellFormed: all of these requests are the same delivery.
func TestWellFormed(t *testing.T) {
	t.Parallel()
	const good = `{"payment_id":"` + someID + `"}`
	tests := map[string]struct{ contentType, body string }{
		"plain":                {"application/json", good},
		"charset":              {"application/json; charset=utf-8", good},
		"odd parameters":       {`application/json;v="1;2";;x`, good},
		"upper-case type":      {"Application/JSON", good},
		"4096 bytes":           {"application/json", strings.Repeat(" ", 4096-len(good)) + good},
		"spaces":               {"application/json", " {\r\n\t\"payment_id\" : \"" + someID + "\" } \n"},
		"other fields":         {"application/json", `{"a":[{"payment_id":1}],"payment_id":"` + someID + `","b":null}`},
		"escaped name":         {"application/json", `{"payment\u005fid":"` + someID + `"}`},
		"escaped value":        {"application/json", `{"payment_id":"\u00311111111-2222-4333-8444-555555555555"}`},
		"another case of name": {"application/json", `{"PAYMENT_ID":"x","payment_id":"` + someID + `"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPayment()
			p.ID = uuid.MustParse(someID)
			h := newHandler(t, webhook.Config{Client: newService(p)})
			r := delivery(test.body)
			r.Header.Set("Content-Type", test.contentType)
			w := serve(h, r)
			assert.Equal(t, http.StatusOK, w.Code)
			assert.JSONEq(t, `{"result":"ok"}`, w.Body.String())
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			assert.Equal(t, p.ID, h.seen.last(t).PaymentID)
			assert.Equal(t, webhook.OutcomeAccepted, h.seen.last(t).Outcome)
		})
	}
}

func TestUpperCaseIDIsTheSamePayment(t *testing.T) {
	t.Parallel()
	p := newPayment()
	g := newGranter()
	h := newHandler(t, webhook.Config{Client: newService(p), Sink: newMemory(t, g.grant, nil)})
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
	assert.Equal(t, http.StatusOK, serve(h, delivery(`{"payment_id":"`+strings.ToUpper(p.ID.String())+`"}`)).Code)
	assert.Equal(t, 1, g.count(p.ID))
}

func TestBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]io.Reader{
		"error": io.MultiReader(strings.NewReader(`{"payment`), errReader{}),
		"panic": panicReader{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newService()
			h := newHandler(t, webhook.Config{Client: client})
			r := httptest.NewRequest(http.MethodPost, "/", body)
			r.Header.Set("Content-Type", "application/json")
			assert.Equal(t, http.StatusBadRequest, serve(h, r).Code)
			require.ErrorIs(t, h.seen.last(t).Err, errTest)
			assert.Zero(t, client.calls.Load())
		})
	}
}

// TestOddRequests: a request without a body is malformed, and one with two content types.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	r := delivery("")
	r.Body, r.ContentLength = nil, 0
	assert.Equal(t, http.StatusBadRequest, serve(newHandler(t, webhook.Config{}), r).Code)
	r = delivery(`{"payment_id":"` + someID + `"}`)
	r.Header.Add("Content-Type", "text/plain")
	assert.Equal(t, http.StatusUnsupportedMediaType, serve(newHandler(t, webhook.Config{}), r).Code)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errTest }

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic(errTest) }

// TestLength: a body that is declared too long is not read at all, and one without a declared
// length is read no further than the limit.
func TestLength(t *testing.T) {
	t.Parallel()
	const good = `{"payment_id":"` + someID + `"}`
	for name, test := range map[string]struct {
		body     io.Reader
		declared int64
		want     int
	}{
		"declared, not read":      {panicReader{}, 4097, http.StatusRequestEntityTooLarge},
		"not declared, too long":  {strings.NewReader(good + strings.Repeat(" ", 4097-len(good))), -1, http.StatusRequestEntityTooLarge},
		"not declared, endless":   {endless{}, -1, http.StatusRequestEntityTooLarge},
		"not declared, just fits": {strings.NewReader(good + strings.Repeat(" ", 4096-len(good))), -1, http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/", test.body)
			r.Header.Set("Content-Type", "application/json")
			r.ContentLength = test.declared
			assert.Equal(t, test.want, serve(newHandler(t, webhook.Config{}), r).Code)
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
