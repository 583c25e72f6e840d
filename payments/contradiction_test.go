package payments_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
)

// TestPaidRecordIsNeverSwallowed: whatever an answer says about itself, a record in it
// is neither "no payment waits" nor a plain error that forgets it, nor granted where
// the answer denies it.
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

// TestDeniedPaymentUnderAnyStatus: "no payment waits", next to an object that nothing
// explains, is ambiguous and its bytes are kept, whatever the HTTP status.
func TestDeniedPaymentUnderAnyStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 400, 401, 403, 404, 409, 410, 422, 500, 502, 503} {
		for _, code := range []string{"NO_PROCESSED_PAYMENT", "NO_PROGRESS_PAYMENTS"} {
			for _, beside := range []string{`"record":` + record(id1), `"list":[` + record(id1) + `]`, `"x":{"y":1}`} {
				body := `{"error":"` + code + `",` + beside + `}`
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
	e, ok := errors.AsType[*payments.Error](err)
	require.True(t, ok)
	require.Equal(t, body, string(e.Raw))
}

// TestHarmlessExtras: fields beside an answer change nothing.
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
