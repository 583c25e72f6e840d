package mockserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func timeline(t *testing.T, s *mockserver.Server, id string) []mockserver.Event {
	t.Helper()
	events, err := s.Timeline(id)
	require.NoError(t, err)
	return events
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	status := http.StatusTeapot
	s := stopped(t, withHook(func(*http.Request, string) (int, error) { return status, nil }))
	id := create(t, s, `"amount":10000`)
	assert.Equal(t, []mockserver.Event{{At: start, Kind: mockserver.EventCreated, Text: "created with POST /payments"}}, timeline(t, s, id))
	s.Advance(time.Second)
	_, err := s.GivePayer(id, "Kim", 0)
	require.NoError(t, err)
	s.Advance(time.Second)
	_, err = s.Deposit(id, mockserver.Deposit{})
	require.NoError(t, err)
	s.Advance(5 * time.Second)
	status = http.StatusOK
	resend(t, s, id)
	s.Advance(0)
	confirm(t, s, id)
	confirm(t, s, id)
	resend(t, s, id)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	assert.Equal(t, []mockserver.Event{
		{At: at(0), Kind: mockserver.EventCreated, Text: "created with POST /payments"},
		{At: at(1), Kind: mockserver.EventPayer, Text: "Kim will pay 10000"},
		{At: at(2), Kind: mockserver.EventDeposit, Text: "Kim paid 10000 by DEPOSIT"},
		{At: at(2), Kind: mockserver.EventWebhook, Text: "attempt 1 of 10: answered HTTP 418, only 200 counts"},
		{At: at(7), Kind: mockserver.EventWebhook, Text: "attempt 2 of 10: answered HTTP 418, only 200 counts"},
		{At: at(7), Kind: mockserver.EventResend, Text: "a resend was asked for"},
		{At: at(7), Kind: mockserver.EventWebhook, Text: "attempt 1 of 10: answered HTTP 200"},
		{At: at(7), Kind: mockserver.EventConfirmed, Text: "returned as COMPLETE by POST /payments/confirm"},
		{At: at(7), Kind: mockserver.EventConfirmed, Text: "returned again by POST /payments/confirm"},
		{At: at(7), Kind: mockserver.EventResend, Text: "a resend was asked for"},
	}, timeline(t, s, id))

	polled := create(t, s, "")
	_, err = s.Deposit(polled, mockserver.Deposit{Amount: 1})
	require.NoError(t, err)
	poll(t, s)
	s.Advance(0)
	events := timeline(t, s, polled)
	assert.Equal(t, "somebody paid 1 by DEPOSIT", events[1].Text)
	assert.Contains(t, events, mockserver.Event{At: at(7), Kind: mockserver.EventPolled, Text: "completed by GET /callback/rest"})
	_, err = s.Timeline("nobody")
	wantCode(t, mockserver.CodePaymentNotFound, err)
}

func TestTimelineRecordsSuppressedAttempt(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)))
	id := paid(t, s)
	s.Advance(0)
	confirm(t, s, id)
	s.Advance(time.Minute)
	events := timeline(t, s, id)
	assert.Equal(t, mockserver.Event{
		At: start.Add(5 * time.Second), Kind: mockserver.EventWebhook, Text: "not sent any more: the payment is COMPLETE",
	}, events[len(events)-1])
}

func TestTimelineIsBounded(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := paid(t, s)
	for range 198 { // with created and deposit: 200
		confirm(t, s, id)
	}
	s.Advance(time.Second)
	confirm(t, s, id)
	events := timeline(t, s, id)
	require.Len(t, events, 200)
	assert.Equal(t, mockserver.EventDeposit, events[1].Kind, "the beginning stays")
	assert.Equal(t, start.Add(time.Second), events[199].At, "the end stays")
	assert.Equal(t, mockserver.Event{At: start, Kind: mockserver.EventCut, Text: "2 events are left out here"}, events[100])
	for range 1000 {
		confirm(t, s, id)
	}
	events = timeline(t, s, id)
	require.Len(t, events, 200)
	assert.Equal(t, "1002 events are left out here", events[100].Text)
	assert.Equal(t, start.Add(time.Second), events[101].At, "the last 99 are the latest ones")
	assert.Equal(t, events, timeline(t, s, id), "reading changes nothing")
}

func TestTimelineShowsNoToken(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, "")
	_, err := s.GivePayer(id, "Kim test_demo", 1)
	require.NoError(t, err)
	assert.Equal(t, "Kim [REDACTED] will pay 1", timeline(t, s, id)[1].Text)
	assert.NotContains(t, control(t, s, 200, "GET", "/payments/"+id+"/timeline", ""), "test_demo")
}

func TestDeliverNow(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(n int) int { return []int{500, 500, 200}[n-1] })
	id := create(t, s, "")
	wantCode(t, mockserver.CodeNoAttemptWaiting, s.DeliverNow(id))
	deposit(t, s, id, 1)
	s.Advance(0)
	require.NoError(t, s.DeliverNow(id))
	s.Advance(0)
	assert.Len(t, r.all(), 2)
	assert.Equal(t, start, s.Now(), "the clock does not move")
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.Attempt{
		PaymentID: id, WebhookID: d.WebhookID, URL: r.url, RetryCount: 1,
		Due: start.Add(5 * time.Second), Started: start, Ended: start,
		HTTPStatus: 500, Err: "answered HTTP 500, only 200 counts",
	}, d.Attempts[1])
	assert.Equal(t, start.Add(5*time.Minute), d.NextDue, "the next one waits as long as ever")
	require.NoError(t, s.DeliverNow(id))
	s.Advance(0)
	assert.Equal(t, mockserver.DeliveryDelivered, onlyDelivery(t, s).Status)
	wantCode(t, mockserver.CodeNoAttemptWaiting, s.DeliverNow(id))
	wantCode(t, mockserver.CodePaymentNotFound, s.DeliverNow("nobody"))
	s.Advance(100 * time.Hour)
	assert.Len(t, r.all(), 3)
}

func TestDeliverNowOfACompletePaymentSendsNothing(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return 500 })
	id := paid(t, s)
	s.Advance(0)
	confirm(t, s, id)
	require.NoError(t, s.DeliverNow(id))
	s.Advance(0)
	assert.Len(t, r.all(), 1)
	assert.Equal(t, mockserver.DeliveryDelivered, onlyDelivery(t, s).Status)
}

func TestResendFromGo(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return 500 })
	id := create(t, s, "")
	wantCode(t, mockserver.CodePaymentNotPaid, s.Resend(id))
	wantCode(t, mockserver.CodePaymentNotFound, s.Resend("nobody"))
	deposit(t, s, id, 1)
	s.Advance(100 * time.Hour)
	require.NoError(t, s.Resend(id))
	s.Advance(0)
	assert.Len(t, r.all(), 11)
	require.NoError(t, s.Close())
	wantCode(t, mockserver.CodeServerClosed, s.Resend(id))
	wantCode(t, mockserver.CodeServerClosed, s.DeliverNow(id))
}
