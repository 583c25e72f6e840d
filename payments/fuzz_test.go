package payments_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/depositpay/depositpay-go/payments"
)

// FuzzRecord: any response to a confirm gives an error or the requested payment, complete,
// as encoding/json sees it; never a panic.
func FuzzRecord(f *testing.F) {
	flat := record(id1)
	for _, seed := range []string{
		flat, `{"data":` + flat + `}`, `{"error":null,"result":` + flat + `}`, flat[:30], noPayment, `null`, `[]`, `{}`,
		`{"id":"` + id1.String() + `","status":"COMPLETE","paid_amount":1e1000000000}`,
		`{"id":"` + id1.String() + `","status":"COMPLETE","paid_amount":"1.50","metadata":{"items":[{"name":"a\"b","price":1}],"game_product":"p"}}`,
		`{"id":"` + id1.String() + `","st\u0061tus":"COMPLETE","paid_amount":-0.0 , "metadata" : [ ] }`,
		"\xef\xbb\xbf" + flat, strings.Repeat("[", 2000), strings.Repeat(`{"data":`, 500),
	} {
		f.Add([]byte(seed))
	}
	var body []byte
	c, err := payments.New(payments.Config{
		BaseURL: "https://service.example", Token: testToken, MaxRetries: -1,
		Transport: foreign(func(r *http.Request) (*http.Response, error) {
			resp := httpmock.NewBytesResponse(200, body)
			resp.Request = r
			return resp, nil
		}),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		body = answer
		p, err := c.Confirm(t.Context(), id1)
		if err != nil {
			if _, ok := errors.AsType[*payments.Error](err); !ok {
				t.Fatalf("%q: an error of another type: %v", answer, err)
			}
			return
		}
		if p.ID != id1 || p.Status != payments.StatusComplete || !json.Valid(trimBOM(answer)) {
			t.Fatalf("%q read as %+v", answer, p)
		}
		encoded, err := json.Marshal(p)
		if err != nil || !json.Valid(encoded) {
			t.Fatalf("%q cannot be encoded: %v %q", answer, err, encoded)
		}
		var again payments.Payment
		if err := json.Unmarshal(encoded, &again); err != nil || again.PaidAmount != p.PaidAmount || again.Identifier != p.Identifier {
			t.Fatalf("%q: %q does not survive: %v", answer, encoded, err)
		}
	})
}

func trimBOM(b []byte) []byte {
	return []byte(strings.TrimPrefix(strings.TrimSpace(string(b)), "\xef\xbb\xbf"))
}

// FuzzServiceError: any response to Next is a payment, "no payment" or an error that keeps
// undecoded bytes. No apparent record is lost in an error.
func FuzzServiceError(f *testing.F) {
	for _, seed := range []string{
		noPayment, `{"error":{"code":7,"message":"x"}}`, `{"error":true}`, `{"error":"","code":"X"}`, `{"code":0,"data":null}`,
		`{"error":"A","error":"B"}`, `{"error":"A","data":{"paid_amount":1}}`, `{"error":["x"]}`, `{"code":"A","payment":{"error":"B"}}`,
		`{"error":"NO_PROCESSED_PAYMENT","id":"` + id1.String() + `"}`, `<html>`, `{"error":"\u0000\n"}`, "\xff", `{"result":[1]}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(500, []byte(seed))
	}
	var status int
	var body []byte
	c, err := payments.New(payments.Config{
		BaseURL: "https://service.example", Token: testToken, MaxRetries: -1,
		Transport: foreign(func(r *http.Request) (*http.Response, error) {
			resp := httpmock.NewBytesResponse(status, body)
			resp.ContentLength = int64(len(body))
			resp.Request = r
			return resp, nil
		}),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, code int, answer []byte) {
		if code < 200 || code > 599 {
			return
		}
		status, body = code, answer
		_, err := c.Next(t.Context())
		if err == nil {
			return
		}
		e, ok := errors.AsType[*payments.Error](err)
		if !ok || strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Fatalf("%q: %T %q", answer, err, err)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(answer, &members) == nil {
			for name, raw := range members {
				var record struct {
					ID         string `json:"id"`
					PaidAmount any    `json:"paid_amount"`
				}
				held := json.Unmarshal(raw, &record) == nil && record.ID != "" && record.PaidAmount != nil
				if held && name != "error" && errors.Is(err, payments.ErrNoProcessedPayment) {
					t.Fatalf("%q: a record under %q passes for no payment", answer, name)
				}
			}
		}
		if errors.Is(err, payments.ErrAmbiguous) && len(e.Raw) == 0 && len(answer) > 0 {
			t.Fatalf("%q: ambiguous, and the bytes are gone: %v", answer, err)
		}
	})
}
