package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/depositpay/depositpay-go/internal/wire"
)

func isRecord(name string) bool {
	switch name {
	case "id", "identifier", "paid_amount", "paidAmount", "method", "verified_ts":
		return true
	}
	return false
}

// TestTraceOfNoRecord: no beginning of an answer without a record, and of no page, is worth
// a look.
func TestTraceOfNoRecord(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":"NO_PROCESSED_PAYMENT","error_msg":"no payment is waiting in PROGRESS; ask again"}`,
		`{"error":"NO_PROGRESS_PAYMENTS","error_msg":"x"}`,
		`{"error":{"code":"NO_PROCESSED_PAYMENT","message":"none","details":[{"field":"token"}]}}`,
		`{"code":"NO_PROCESSED_PAYMENT","message":"none","data":null}`,
		`{"error":true,"code":"NO_PROCESSED_PAYMENT"}`,
		`{"error_msg":"none","error":"NO_PROCESSED_PAYMENT"}`,
		`{"success":false,"error":"NO_PROCESSED_PAYMENT"}`,
		`{"error":"NO_PROCESSED_PAYMENT","error_msg":"none","request_id":"7","took_ms":3}`,
		`null`, `{}`, ` { } `, `[]`, `{"payment":null}`, `{"data":{}}`, `{"error":null,"data":{"payment":{}}}`,
		`{"error":"INTERNAL","error_msg":"try again"}`,
		`{"message":"An invalid response was received from the upstream server"}`,
		"\xef\xbb\xbf\r\n{\"error\":\"NO_PROCESSED_PAYMENT\"}",
		"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body id=\"page\">\r\n<form method=\"post\"></form>nginx</body></html>",
		`<?xml version="1.0"?><error id="1"/>`, "<!DOCTYPE html>\n<h1>\xbc\xad\xba\xf1\xbd\xba \xc1\xa1\xb0\xcb</h1>",
		"upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
		"error code: 504", "Gateway Timeout\r\n", "no healthy upstream at 2026-11-22T16:00:00Z",
		`{"id`, `{"id":`, `{"id":"`, `{"id":null,"ident`, `{"payment":{"identifier":"`, `{"paid_amount":  `, `[{`,
		`{"code":"OK","data":{`, `{"code":200,"success":true,"result":{`,
	} {
		for n := range len(body) + 1 {
			cut := body[:n]
			assert.False(t, wire.Trace([]byte(cut), isRecord), "%q", cut)
		}
	}
	for _, whole := range []string{
		`{"timestamp":"2026-11-22T16:00:00","status":502,"error":"Bad Gateway","path":"/callback/rest"}`,
		`{"status":"error","error":"NO_PROCESSED_PAYMENT"}`,
	} {
		assert.False(t, wire.Trace([]byte(whole), isRecord), "%q: the error explains what comes before it", whole)
	}
}

// TestTraceOfRecord: what may be a part of a record is kept, from its first byte on.
func TestTraceOfRecord(t *testing.T) {
	t.Parallel()
	const id = "9d3c2b1a-7e4f-4a60-8c11-0123456789ab"
	for _, c := range []struct{ before, rest string }{
		{`{"id":"`, id + `","identifier":"player"}`},
		{`{"identifier":"`, `player","paid_amount":1}`},
		{`{"error":null,"paid_amount":`, `10000}`},
		{`{"payment":{"paidAmount":`, `10000,"method":"DEPOSIT"}}`},
		{`{"code":"OK","data":{"payment":{"method":"`, `CULTURE"}}}`},
		{`{"error":"NO_PROCESSED_PAYMENT","id":"`, id + `"}`},
		{`{"error":"NO_PROCESSED_PAYMENT","order":{"key":"`, `7"}}`},
		{`{"error":"NO_PROCESSED_PAYMENT","payments":[{"key":`, `7}]}`},
		{`{"error":"NO_PROCESSED_PAYMENT","data":["`, `x"]}`},
		{`{"error":{"code":"X","id":"`, `req"}}`},
		{`{"status":"`, `COMPLETE","metadata":{}}`},
		{`{"request_id":"`, `7"}`},
		{`[{"key":"`, `7"}]`},
		{`[`, `7]`},
		{`{"error":"the answer was {\"id\"`, `:\"7\"}"}`},
		{`{"error_msg":"payment 9d3c2b1a-7e4f`, `-4a60 was paid"}`},
		{`<br />Warning: x on line 3<br />{"id"`, `:"7"}`},
		{`<pre>{&quot;identifier&quot;`, `: &quot;player&quot;}</pre>`},
		{`payment_id=9d3c2b1a-7e4f`, `-4a60`},
		{`id=7&paid_amoun`, `t=1`},
		{"", "\x1f\x8b\x08 compressed"},
		{`{`, `a:1}`},
		{`{}`, `{}`},
		{strings.Repeat("[", 101), `[`},
	} {
		assert.False(t, wire.Trace([]byte(c.before), isRecord), "%q", c.before)
		for n := range len(c.rest) {
			cut := c.before + c.rest[:n+1]
			assert.True(t, wire.Trace([]byte(cut), isRecord), "%q", cut)
		}
	}
}

// FuzzTrace: an object with an id leaves a trace, whatever stands next to the id.
func FuzzTrace(f *testing.F) {
	for _, seed := range []string{`{"id":"7"}`, `{"error":"x","data":[{"id":1}]}`, `<html>`, "{\"a\":\"\\", `[[[{"b":nul`, `{"code":200,"id":"a"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		trace := wire.Trace(body, isRecord)
		var object struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(body, &object); err != nil || object.ID == "" {
			return
		}
		for name, raw := range wire.Members(wire.Trim(body)) {
			if name == "id" && len(raw) > 2 && !trace { // encoding/json takes "ID" as well
				t.Fatalf("%q has an id", body)
			}
		}
	})
}
