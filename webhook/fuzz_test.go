package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// FuzzBody compares the Handler's reading of a body with encoding/json's: what is
// accepted is what encoding/json reads as well, and what is plainly right is
// accepted.
func FuzzBody(f *testing.F) {
	const id = `"` + someID + `"`
	for _, seed := range []string{
		`{"payment_id":` + id + `}`, ` {"a":[1,{"payment_id":2}],"payment_id":` + id + `} `,
		`{"payment_id":` + id + `,"payment_id":` + id + `}`, `{"payment\u005fid":` + id + `}`,
		`{"PAYMENT_ID":` + id + `}`, `{"payment_id":null}`, `{"payment_id":` + id + `}x`, `[]`, ``, "\xef\xbb\xbf{}",
		`{"payment_id":"00000000-0000-0000-0000-000000000000"}`, `{"payment_id":"\ud800` + someID + `"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, strict bool) {
		var asked uuid.UUID
		h := newHandler(t, webhook.Config{ConfirmRate: -1, Strict: strict, Client: confirmerFunc(
			func(_ context.Context, id uuid.UUID) (payments.Payment, error) {
				asked = id
				return payments.Payment{}, errTest
			})})
		code := serve(h, delivery(string(body))).Code
		want, plain := plainID(body)
		switch code {
		case http.StatusTooManyRequests: // read and asked for
			if asked == uuid.Nil || want != asked {
				t.Fatalf("asked for %s; encoding/json reads %s", asked, want)
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
			if plain && !strict && len(body) <= 4096 {
				t.Fatalf("refused with %d, though encoding/json reads %s", code, want)
			}
		default:
			t.Fatalf("status %d", code)
		}
	})
}

// plainID is what encoding/json makes of body; plain tells that there can be no two
// opinions about it.
func plainID(body []byte) (id uuid.UUID, plain bool) {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(body, &object) != nil || json.Unmarshal(object["payment_id"], &text) != nil || len(text) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	plain = err == nil && id != uuid.Nil && utf8.Valid(body) &&
		bytes.Count(body, []byte("payment_id")) == 1 && !bytes.Contains(body, []byte(`\`))
	return id, plain
}
