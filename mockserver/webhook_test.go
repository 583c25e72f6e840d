package mockserver_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// statusOf decodes the shape of status and resend, and refuses any other field.
func statusOf(t *testing.T, answer string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(answer), &out), answer)
	for key := range out {
		assert.Contains(t, []string{
			"payment_id", "webhook_id", "status", "attempts", "last_attempt_ts", "next_attempt_ts",
			"last_http_status", "last_error",
		}, key)
	}
	return out
}

func TestWebhookStatusThroughARun(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	unnotified := paid(t, s)
	wantError(t, mockserver.CodeWebhookNotFound, webhookStatus(t, s, unnotified))

	listen(t, s, func(n int) int { return []int{500, 200}[n-1] })
	id := create(t, s, "")
	wantError(t, mockserver.CodeWebhookNotFound, webhookStatus(t, s, id))
	deposit(t, s, id, 1)
	s.Advance(time.Second)
	d := onlyDelivery(t, s)
	assert.Equal(t, `{"payment_id":"`+id+`","webhook_id":"`+d.WebhookID+`","status":"pending","attempts":1,`+
		`"last_attempt_ts":"2025-03-01T12:00:00Z","next_attempt_ts":"2025-03-01T12:00:05Z",`+
		`"last_http_status":500,"last_error":"answered HTTP 500, only 200 counts"}`, webhookStatus(t, s, id))
	s.Advance(time.Minute)
	assert.Equal(t, `{"payment_id":"`+id+`","webhook_id":"`+d.WebhookID+`","status":"delivered","attempts":2,`+
		`"last_attempt_ts":"2025-03-01T12:00:05Z","last_http_status":200}`, webhookStatus(t, s, id))
}

func TestRetryIsSuppressedOnceComplete(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(*testing.T, *mockserver.Server, string){
		"poll":    func(t *testing.T, s *mockserver.Server, _ string) { poll(t, s) },
		"confirm": func(t *testing.T, s *mockserver.Server, id string) { confirm(t, s, id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stopped(t)
			r := listen(t, s, func(int) int { return 500 })
			id := paid(t, s)
			s.Advance(6 * time.Second)
			finish(t, s, id)
			assert.Equal(t, "pending", statusOf(t, webhookStatus(t, s, id))["status"])
			s.Advance(200 * time.Hour)
			assert.Len(t, r.all(), 2)
			status := statusOf(t, webhookStatus(t, s, id))
			assert.Equal(t, "delivered", status["status"])
			assert.NotContains(t, status, "next_attempt_ts")
		})
	}
}

func TestJumpSettlesCompletePaymentsWithoutSending(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return 500 })
	a, b := create(t, s, ""), create(t, s, "")
	deposit(t, s, a, 1)
	s.Advance(time.Second)
	deposit(t, s, b, 1)
	s.Advance(0)
	confirm(t, s, a)
	attempt, ok := s.JumpToNextAttempt()
	require.True(t, ok)
	assert.Equal(t, b, attempt.PaymentID)
	assert.Equal(t, start.Add(6*time.Second), attempt.Started)
	assert.Len(t, r.all(), 3)
	assert.Equal(t, mockserver.DeliveryDelivered, s.Deliveries()[0].Status)
	confirm(t, s, b)
	_, ok = s.JumpToNextAttempt()
	assert.False(t, ok)
}

func TestReceiverThatConfirmsAndThenFails(t *testing.T) {
	t.Parallel()
	var s *mockserver.Server
	var id string
	n := 0
	s = stopped(t, withHook(func(*http.Request, string) (int, error) {
		n++
		confirm(t, s, id)
		return http.StatusInternalServerError, nil
	}))
	id = create(t, s, "")
	deposit(t, s, id, 1)
	s.Advance(4 * time.Second)
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryPending, d.Status, "the attempt itself failed")
	assert.Equal(t, 500, d.Attempts[0].HTTPStatus)
	s.Advance(200 * time.Hour)
	assert.Equal(t, mockserver.DeliveryDelivered, onlyDelivery(t, s).Status)
	assert.Equal(t, 1, n, "the webhook stops once the payment is COMPLETE")
}

func TestResendOfACompletePaymentSendsNothing(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return 500 })
	failed, pending, never := create(t, s, ""), create(t, s, ""), create(t, s, "")
	deposit(t, s, failed, 1)
	s.Advance(100 * time.Hour)
	deposit(t, s, pending, 1)
	s.Advance(0)
	require.NoError(t, s.SetWebhook(s.Token(), ""))
	deposit(t, s, never, 1)
	for i, id := range []string{failed, pending, never} {
		confirm(t, s, id)
		status := statusOf(t, resend(t, s, id))
		assert.Equal(t, "delivered", status["status"])
		assert.InDelta(t, []int{10, 1, 0}[i], status["attempts"], 0)
	}
	s.Advance(200 * time.Hour)
	assert.Len(t, r.all(), 11)
}

func TestResendOfAFailedDeliveryIsAFreshRun(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(n int) int {
		if n == 13 {
			return 200
		}
		return 500
	})
	id := paid(t, s)
	s.Advance(100 * time.Hour)
	again := s.Now()
	status := statusOf(t, resend(t, s, id))
	assert.Equal(t, "pending", status["status"])
	assert.InDelta(t, 1, status["attempts"], 0)
	s.Advance(100 * time.Hour)
	got := r.all()
	require.Len(t, got, 13)
	for i, g := range got[10:] {
		assert.Equal(t, strconv.Itoa(i), g.header.Get("X-Retry-Count"))
		assert.Equal(t, got[0].header.Get("X-Webhook-Id"), g.header.Get("X-Webhook-Id"))
		assert.Equal(t, offset(t, i), g.at.Sub(again))
	}
	assert.Equal(t, mockserver.DeliveryDelivered, onlyDelivery(t, s).Status)
	assert.Len(t, onlyDelivery(t, s).Attempts, 13)
}

func TestResendReplacesCurrentRun(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 20)
	s := stopped(t, withHook(hangs(begun)), patience(time.Millisecond))
	id := paid(t, s)
	<-begun
	resend(t, s, id)
	<-begun
	d := onlyDelivery(t, s)
	require.Len(t, d.Attempts, 2)
	assert.Contains(t, d.Attempts[0].Err, "resend")
	assert.True(t, d.Attempts[1].Ended.IsZero())
	s.Advance(14 * time.Second)
	d = onlyDelivery(t, s)
	assert.Len(t, d.Attempts, 2, "the first run plans nothing any more")
	assert.Equal(t, start.Add(15*time.Second), d.NextDue)
	confirm(t, s, id)
}

func TestResendDropsThePlannedRetry(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return 500 })
	id := paid(t, s)
	s.Advance(time.Second)
	resend(t, s, id)
	s.Advance(10 * time.Second)
	got := r.all()
	require.Len(t, got, 3)
	assert.Equal(t, 6*time.Second, got[2].at.Sub(start), "5 s after the failure of the resend")
}

func TestAttemptInFlightDoesNotUndoResend(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 20)
	s := stopped(t, withHook(hangs(begun)), patience(time.Millisecond))
	id := paid(t, s)
	<-begun
	confirm(t, s, id)
	assert.Equal(t, "delivered", statusOf(t, resend(t, s, id))["status"])
	s.Advance(12 * time.Second)
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
	assert.Equal(t, start.Add(10*time.Second), d.Attempts[0].Ended)
	assert.True(t, d.NextDue.IsZero())
}

func TestResendNeedsAPaidPaymentAndAnAddress(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, "")
	wantError(t, mockserver.CodePaymentNotPaid, resend(t, s, id))
	deposit(t, s, id, 1)
	wantError(t, mockserver.CodeWebhookNotFound, resend(t, s, id))
	r := listen(t, s, func(int) int { return 200 })
	resend(t, s, id)
	s.Advance(0)
	assert.Len(t, r.all(), 1, "an address configured after the deposit is used by a resend")
	assert.Equal(t, mockserver.DeliveryDelivered, onlyDelivery(t, s).Status)
	resend(t, s, id)
	s.Advance(0)
	assert.Len(t, r.all(), 2, "a delivered webhook of a payment in PROGRESS is sent again")
}

func TestAttemptsKeptAreBounded(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(200)))
	id := paid(t, s)
	for range 150 {
		s.Advance(0)
		resend(t, s, id)
	}
	assert.Len(t, onlyDelivery(t, s).Attempts, 100)
}

func TestNoWebhookWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(200)))
	require.NoError(t, s.SetWebhook(s.Token(), ""))
	paid(t, s)
	assert.Empty(t, s.Deliveries())
	wantCode(t, mockserver.CodeInvalidToken, s.SetWebhook("test_other", hookURL))
	for _, bad := range []string{"ftp://127.0.0.1/", "127.0.0.1:80", "http://", "http://shop.example/hook", "http://10.0.0.1/", "http://u:p@127.0.0.1/", "http://127.0.0.1.nip.example/"} {
		wantCode(t, mockserver.CodeInvalidParameter, s.SetWebhook(s.Token(), bad))
	}
	for _, good := range []string{"http://localhost:1/x", "https://[::1]:1/", "http://127.8.8.8/", "http://[::ffff:127.0.0.1]/"} {
		require.NoError(t, s.SetWebhook(s.Token(), good))
	}
}
