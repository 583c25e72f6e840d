package payments_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
)

// answering returns a Client that gets status and body for every request.
func answering(t *testing.T, status int, body string) *payments.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		resp := httpmock.NewStringResponse(status, body)
		resp.ContentLength = int64(len(body))
		resp.Request = r
		return resp, nil
	})
	return newClient(t, payments.Config{BaseURL: "https://service.example", Transport: mock})
}

// TestEnvelopes: a flat and a wrapped record decode equally, by poll and by confirm.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	flat := record(id1)
	for name, body := range map[string]string{
		"flat":                flat,
		"payment":             `{"payment":` + flat + `}`,
		"data":                `{"data":` + flat + `}`,
		"result":              `{"result":` + flat + `}`,
		"data.payment":        `{"data":{"payment":` + flat + `}}`,
		"code and data":       `{"code":"OK","data":` + flat + `,"message":"fine"}`,
		"code 0 and result":   `{"code":0,"result":` + flat + `}`,
		"error null":          `{"error":null,` + flat[1:],
		"error null, data":    `{"error":null,"error_msg":null,"data":` + flat + `}`,
		"BOM and white space": "\xef\xbb\xbf \r\n\t" + flat + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for status := range map[int]bool{200: true, 201: true} {
				c := answering(t, status, body)
				byPoll, err := c.Next(t.Context())
				require.NoError(t, err)
				byConfirm, err := c.Confirm(t.Context(), id1)
				require.NoError(t, err)
				require.Equal(t, byPoll, byConfirm)
				require.Equal(t, payments.Payment{
					ID: id1, Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
					PaidAmount: payments.NewAmount(10000), VerifiedAt: time.Date(2023, 5, 1, 12, 30, 0, 0, time.UTC),
				}, byPoll)
			}
		})
	}
}

// TestOlderDialect: a record in the format of before 2025-05, without id and status, is
// decoded.
func TestOlderDialect(t *testing.T) {
	t.Parallel()
	c := answering(t, 200, `{"payment":{"paidAmount":5000,"method":"CULTURE"},"identifier":"player-1"}`)
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous, "an identifier outside the envelope is not guessed at")

	c = answering(t, 200, `{"payment":{"paidAmount":5000,"method":"CULTURE","identifier":"player-1"}}`)
	p, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, payments.NewAmount(5000), p.PaidAmount)
	require.Equal(t, payments.MethodCulture, p.Method)
	require.Equal(t, payments.StatusComplete, p.Status)
	require.Zero(t, p.ID)
}

// TestNoPayment: every form of "no payment is waiting" is recognized.
func TestNoPayment(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		noPayment, `{"error":"NO_PROGRESS_PAYMENTS","error_msg":"x"}`, `{"error":"no_processed_payment"}`,
		`{"error":{"code":"NO_PROCESSED_PAYMENT","message":"none"}}`, `{"error":{"type":"NO_PROCESSED_PAYMENT"}}`,
		`{"code":"NO_PROCESSED_PAYMENT","message":"none"}`, `{"code":"NO_PROCESSED_PAYMENT","data":null}`,
		`{"error":true,"code":"NO_PROCESSED_PAYMENT"}`,
		`null`, `{}`, ` { } `, `[]`, ``, " \n", `{"payment":null}`, `{"data":[]}`, `{"result":{}}`, `{"code":0,"data":null}`,
	} {
		for _, status := range []int{200, 204, 400, 404, 500} {
			if status != 200 && (len(body) < 10 || status == 204) && body != "" {
				continue // only a named code says it with another status
			}
			if body == "" && status >= 400 || status >= 400 && !json.Valid([]byte(body)) {
				continue
			}
			if status >= 400 && (body[2] == 'p' || body[2] == 'd' || body[2] == 'r' || body == `{"code":0,"data":null}`) {
				continue
			}
			_, err := answering(t, status, body).Next(t.Context())
			require.ErrorIs(t, err, payments.ErrNoProcessedPayment, "%d %s", status, body)
			require.NotErrorIs(t, err, payments.ErrAmbiguous, "%d %s", status, body)
		}
	}
}

// TestServiceErrors: all shapes of an error give the same code and message.
func TestServiceErrors(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 404} {
		for _, body := range []string{
			`{"error":"BAD_THING","error_msg":"no good"}`,
			`{"error":{"code":"BAD_THING","message":"no good"}}`,
			`{"code":"BAD_THING","message":"no good"}`,
			`{"code":"BAD_THING","msg":"no good","data":null}`,
			`{"error":true,"code":"BAD_THING","message":"no good"}`,
			`{"error":"BAD_THING","message":"no good","status":"error"}`,
		} {
			for _, op := range operations {
				err := op.call(t.Context(), answering(t, status, body))
				e, ok := errors.AsType[*payments.Error](err)
				require.True(t, ok, "%s %s: %v", op.name, body, err)
				require.Equal(t, "BAD_THING", e.Code)
				require.Equal(t, "no good", e.Message)
				require.Equal(t, status, e.HTTPStatus)
				require.NotErrorIs(t, err, payments.ErrAmbiguous)
				require.True(t, payments.SafeToRetry(err))
			}
		}
	}
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	for _, op := range operations {
		require.ErrorIs(t, op.call(t.Context(), answering(t, 401, `{}`)), payments.ErrTokenRefused)
		require.ErrorIs(t, op.call(t.Context(), answering(t, 403, `{"error":"NO","error_msg":"x"}`)), payments.ErrTokenRefused)
		require.ErrorIs(t, op.call(t.Context(), answering(t, 200, `{"error":"invalid_token"}`)), payments.ErrTokenRefused)
		require.NotErrorIs(t, op.call(t.Context(), answering(t, 200, `{"error":"BUSY"}`)), payments.ErrTokenRefused)
	}
}

// TestUndecodable: the error keeps the bytes of a complete response that cannot be decoded,
// and is ambiguous for operations that must not be repeated.
func TestUndecodable(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"HTML":              "<html>busy</html>",
		"half":              record(id1)[:40],
		"array":             "[" + record(id1) + "]",
		"number":            "42",
		"string":            `"ok"`,
		"amount missing":    `{"id":"` + id1.String() + `","status":"COMPLETE"}`,
		"amount null":       `{"id":"` + id1.String() + `","paid_amount":null}`,
		"amount words":      `{"id":"` + id1.String() + `","paid_amount":"a lot"}`,
		"amount bomb":       `{"id":"` + id1.String() + `","paid_amount":1e1000000000}`,
		"amount twice":      `{"id":"` + id1.String() + `","paid_amount":1,"paid_amount":1000000}`,
		"amount two ways":   `{"id":"` + id1.String() + `","paid_amount":1,"paidAmount":1000000}`,
		"id no UUID":        `{"id":"7","paid_amount":1}`,
		"id number":         `{"id":7,"paid_amount":1}`,
		"id braces":         `{"id":"{` + id1.String()[2:] + `}","paid_amount":1}`,
		"identifier number": `{"id":"` + id1.String() + `","paid_amount":1,"identifier":5}`,
		"status object":     `{"id":"` + id1.String() + `","paid_amount":1,"status":{}}`,
		"record and error":  `{"error":"OOPS",` + record(id1)[1:],
		"data and error":    `{"error":"OOPS","data":` + record(id1) + `}`,
		"two records":       `{"data":` + record(id1) + `,"result":` + record(id2) + `}`,
		"foreign object":    `{"hello":"world"}`,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := answering(t, 200, body)
			for opName, call := range map[string]func(context.Context) error{
				"Next":    func(ctx context.Context) error { _, err := c.Next(ctx); return err },
				"Confirm": func(ctx context.Context) error { _, err := c.Confirm(ctx, id1); return err },
			} {
				err := call(t.Context())
				require.ErrorIs(t, err, payments.ErrUndecodable, opName)
				require.Equal(t, opName == "Next", errors.Is(err, payments.ErrAmbiguous), opName)
				require.Equal(t, opName == "Confirm", payments.SafeToRetry(err), opName)
				e := asError(t, err)
				require.Equal(t, body, string(e.Raw))
			}
		})
	}
	for _, body := range []string{``, `{}`, `{"payToken":"7"}`, `{"payToken":7}`, `{"token":"x"}`, `{"payToken":null}`, `[]`,
		`{"payToken":"` + id1.String() + `","payToken":"` + id2.String() + `"}`} {
		_, err := answering(t, 200, body).Create(t.Context(), validRequest())
		require.ErrorIs(t, err, payments.ErrUndecodable, body)
		require.ErrorIs(t, err, payments.ErrAmbiguous, body)
	}
}

// TestVerification: only the requested payment with status COMPLETE is verified.
func TestVerification(t *testing.T) {
	t.Parallel()
	_, err := answering(t, 200, record(id2)).Confirm(t.Context(), id1)
	require.ErrorIs(t, err, payments.ErrWrongPayment)
	e := asError(t, err)
	require.Equal(t, record(id2), string(e.Raw))
	require.Equal(t, id1, e.PayToken)

	_, err = answering(t, 200, `{"paid_amount":1,"status":"COMPLETE"}`).Confirm(t.Context(), id1)
	require.ErrorIs(t, err, payments.ErrUndecodable, "confirm needs the id back")

	for _, status := range []string{`"PROGRESS"`, `"complete"`, `"COMPLETE "`, `""`, `"EXPIRED"`} {
		body := `{"id":"` + id1.String() + `","paid_amount":1,"status":` + status + `}`
		p, err := answering(t, 200, body).Confirm(t.Context(), id1)
		require.ErrorIs(t, err, payments.ErrNotComplete, status)
		require.Equal(t, id1, p.ID, "the record comes along")
		if status != `""` {
			p, err = answering(t, 200, body).Next(t.Context())
			require.ErrorIs(t, err, payments.ErrNotComplete, status)
			require.Equal(t, id1, p.ID)
		}
	}
	_, err = answering(t, 200, `{"id":"`+id1.String()+`","paid_amount":1}`).Confirm(t.Context(), id1)
	require.ErrorIs(t, err, payments.ErrNotComplete, "an absent status verifies nothing")
}

// TestRecordFields: every field of the interface, and everything else kept.
func TestRecordFields(t *testing.T) {
	t.Parallel()
	p, err := answering(t, 200, `{"id":"`+id1.String()+`","identifier":"\uc8fc\ubb38 \"1\"","status":"COMPLETE","method":"PIGEON",
		"paid_amount":10000.50,"verified_ts":"2023-05-01T21:30:00.25+09:00","fee":{"x":[1,"}"]},"note":null,
		"metadata":{"items":[{"name":"Sword","price":3000,"count":2,"color":"red"},{"name":"Free","price":"0","count":null}],
		"game_product":"p-77","level":7}}`).Next(t.Context())
	require.NoError(t, err)
	half, _ := payments.ParseAmount("10000.5")
	require.Equal(t, payments.Payment{
		ID: id1, Identifier: `주문 "1"`, Status: "COMPLETE", Method: "PIGEON", PaidAmount: half,
		VerifiedAt: time.Date(2023, 5, 1, 12, 30, 0, 250_000_000, time.UTC),
		Metadata: payments.Metadata{
			Items: []payments.Item{
				{Name: "Sword", Price: payments.NewAmount(3000), Count: 2, Extra: map[string]json.RawMessage{"color": json.RawMessage(`"red"`)}},
				{Name: "Free"},
			},
			GameProduct: "p-77",
			Extra:       map[string]json.RawMessage{"level": json.RawMessage("7")},
		},
		Extra: map[string]json.RawMessage{"fee": json.RawMessage(`{"x":[1,"}"]}`), "note": json.RawMessage("null")},
	}, p)

	encoded, err := json.Marshal(p)
	require.NoError(t, err)
	var again payments.Payment
	require.NoError(t, json.Unmarshal(encoded, &again))
	require.Equal(t, p, again)
}

// TestUnreadableSideFields: an unreadable field that does not decide about money goes to
// Extra.
func TestUnreadableSideFields(t *testing.T) {
	t.Parallel()
	read := func(fields string) payments.Payment {
		p, err := answering(t, 200, `{"id":"`+id1.String()+`","paid_amount":1,`+fields+`}`).Next(t.Context())
		require.NoError(t, err, fields)
		return p
	}
	require.Equal(t, json.RawMessage(`"yesterday"`), read(`"verified_ts":"yesterday"`).Extra["verified_ts"])
	require.Equal(t, json.RawMessage(`"x"`), read(`"metadata":"x"`).Extra["metadata"])
	require.Zero(t, read(`"metadata":[]`).Metadata)
	require.Zero(t, read(`"metadata":null`).Metadata)
	require.Equal(t, json.RawMessage(`[{"price":"a"}]`), read(`"metadata":{"items":[{"price":"a"}]}`).Metadata.Extra["items"])
	require.Equal(t, json.RawMessage(`7`), read(`"metadata":{"game_product":7}`).Metadata.Extra["game_product"])
	require.Empty(t, read(`"metadata":{"game_product":"a","game_product":"b"}`).Metadata.GameProduct)
	for _, ts := range []string{"2023-05-01T12:30:00Z", "2023-05-01T12:30:00", "2023-05-01T12:30:00.000", "2023-05-01T21:30:00+0900", "2023-05-01 12:30:00"} {
		require.Equal(t, time.Date(2023, 5, 1, 12, 30, 0, 0, time.UTC), read(`"verified_ts":"`+ts+`"`).VerifiedAt, ts)
	}
}

func TestGameProductField(t *testing.T) {
	t.Parallel()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(httpmock.NewStringResponder(200, `{"id":"`+id1.String()+`","paid_amount":1,"metadata":{"brand_product":"p-1","game_product":"p-2"}}`))
	c := newClient(t, payments.Config{BaseURL: "https://service.example", Transport: mock, GameProductField: "brand_product"})
	p, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "p-1", p.Metadata.GameProduct)
	require.Equal(t, json.RawMessage(`"p-2"`), p.Metadata.Extra["game_product"])
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	body := `{"payment_id":"` + id1.String() + `","webhook_id":"w-1","status":"pending","attempts":3,"last_attempt_ts":"2023-05-01T12:30:00Z","next_attempt_ts":null,"reason":"busy"}`
	for _, wrapped := range []string{body, `{"data":` + body + `}`} {
		d, err := answering(t, 200, wrapped).WebhookStatus(t.Context(), id1)
		require.NoError(t, err)
		require.Equal(t, payments.Delivery{
			PaymentID: id1, WebhookID: "w-1", Status: payments.DeliveryPending, Attempts: 3,
			LastAttemptAt: time.Date(2023, 5, 1, 12, 30, 0, 0, time.UTC),
			Extra:         map[string]json.RawMessage{"reason": json.RawMessage(`"busy"`)},
		}, d)
	}
	_, err := answering(t, 200, body).ResendWebhook(t.Context(), id2)
	require.ErrorIs(t, err, payments.ErrWrongPayment)
	d, err := answering(t, 200, `{}`).ResendWebhook(t.Context(), id2)
	require.NoError(t, err)
	require.Zero(t, d)
}

// TestPaidRecordIsNeverSwallowed: whatever else a response says, a record in it never counts
// as "no payment", is never dropped by a plain error, and is not granted if the response
// denies it.
func TestPaidRecordIsNeverSwallowed(t *testing.T) {
	t.Parallel()
	rec := record(id1)
	bare := `{"id":"` + id1.String() + `","paid_amount":10000}`
	for _, body := range []string{
		`{"data":null,"order":` + rec + `}`,
		`{"payment":null,"payments":[` + rec + `]}`,
		`{"data":[],"record":` + rec + `}`,
		`{"result":{},"items":[` + rec + `]}`,
		`{"data":null,"result":{"order":` + rec + `}}`,
		`{"status":"COMPLETE","data":null,"paid":10000}`,
		`{"data":{"status":"COMPLETE","metadata":{"game_product":"p"}},"result":null}`,
		`{"error":"NO_PROCESSED_PAYMENT","order":` + rec + `}`,
		`{"error":"NO_PROCESSED_PAYMENT","data":[` + rec + `]}`,
		`{"error":"NO_PROCESSED_PAYMENT","payments":[` + rec + `]}`,
		`{"code":"NO_PROCESSED_PAYMENT","data":` + rec + `}`,
		`{"code":"NOT_VERIFIED","message":"pending","data":` + rec + `}`,
		`{"code":"NOT_VERIFIED",` + bare[1:],
		`{"success":false,"data":` + rec + `}`,
		`{"success":false,` + rec[1:],
		`{"error":"OOPS","data":{"payment":` + rec + `}}`,
	} {
		_, err := answering(t, 200, body).Next(t.Context())
		requireKept(t, err, body)
	}
	for _, status := range []int{302, 400, 401, 403, 404, 409} {
		for _, body := range []string{rec, `{"data":` + rec + `}`, `{"error":"X","data":` + rec + `}`} {
			_, err := answering(t, status, body).Next(t.Context())
			requireKept(t, err, body)
			require.NotErrorIs(t, err, payments.ErrTokenRefused, "%d %s", status, body)
		}
	}
}

// TestDeniedPaymentUnderAnyStatus: "no payment is waiting" next to an unexplained object is
// ambiguous and its bytes are kept, with any HTTP status.
func TestDeniedPaymentUnderAnyStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 400, 401, 403, 404, 409, 410, 422, 500, 502, 503} {
		for _, code := range []string{"NO_PROCESSED_PAYMENT", "NO_PROGRESS_PAYMENTS"} {
			for _, next := range []string{`"record":` + record(id1), `"list":[` + record(id1) + `]`, `"x":{"y":1}`} {
				body := `{"error":"` + code + `",` + next + `}`
				_, err := answering(t, status, body).Next(t.Context())
				requireKept(t, err, body)
				require.NotErrorIs(t, err, payments.ErrTokenRefused, "%d %s", status, body)
			}
			_, err := answering(t, status, `{"error":"`+code+`","error_msg":"none"}`).Next(t.Context())
			require.ErrorIs(t, err, payments.ErrNoProcessedPayment, "%d %s", status, code)
		}
	}
}

func requireKept(t *testing.T, err error, body string) {
	t.Helper()
	require.ErrorIs(t, err, payments.ErrAmbiguous, body)
	require.NotErrorIs(t, err, payments.ErrNoProcessedPayment, body)
	require.False(t, payments.SafeToRetry(err), body)
	e := asError(t, err)
	require.Equal(t, body, string(e.Raw))
}

// TestHarmlessExtras: additional fields in a response change nothing.
func TestHarmlessExtras(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":"NO_PROCESSED_PAYMENT","error_msg":"none","request_id":"7","took_ms":3}`,
		`{"data":null,"code":0,"message":"ok","success":true}`, `{"data":[ ]}`, `[ ]`, ` { } `,
	} {
		_, err := answering(t, 200, body).Next(t.Context())
		require.ErrorIs(t, err, payments.ErrNoProcessedPayment, body)
	}
	for _, body := range []string{
		`{"success":true,"code":200,"data":` + record(id1) + `,"took":{"ms":3}}`,
		`{"code":"A-1",` + record(id1)[1:], // a record with a status and a field of its own
	} {
		p, err := answering(t, 200, body).Next(t.Context())
		require.NoError(t, err, body)
		require.Equal(t, id1, p.ID)
	}
	_, err := answering(t, 403, "<html>blocked</html>").Next(t.Context())
	require.NotErrorIs(t, err, payments.ErrTokenRefused, "a firewall's page says nothing of the token")
	_, err = answering(t, 200, `{"foo":1}`).WebhookStatus(t.Context(), id1)
	require.ErrorIs(t, err, payments.ErrUndecodable)
}
