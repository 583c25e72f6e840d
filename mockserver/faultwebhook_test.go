package mockserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// arrivals records what a receiver without a socket gets, and when by the mock's clock.
type arrivals struct {
	s     *mockserver.Server
	came  chan arrival
	reply int
}

type arrival struct {
	body  string
	retry string
	after time.Duration
}

func (a *arrivals) serve(r *http.Request, body string) (int, error) {
	a.came <- arrival{body, r.Header.Get("X-Retry-Count"), a.s.Now().Sub(start)}
	return a.reply, nil
}

func (a *arrivals) list() []arrival {
	a.s.Advance(0)
	var list []arrival
	for len(a.came) > 0 {
		list = append(list, <-a.came)
	}
	return list
}

func receiving(t *testing.T, reply int, faults ...mockserver.Fault) (*mockserver.Server, *arrivals) {
	t.Helper()
	a := &arrivals{came: make(chan arrival, 100), reply: reply}
	a.s = stopped(t, withHook(a.serve))
	for _, f := range faults {
		f.Operation = "webhook"
		fault(t, a.s, f)
	}
	return a.s, a
}

func about(id string) string { return `{"payment_id":"` + id + `"}` }

func TestDuplicateWebhook(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "duplicate", Nth: 1}, mockserver.Fault{Kind: "duplicate", Nth: 2, Delay: time.Minute})
	first := paid(t, s)
	assert.Equal(t, []arrival{{about(first), "0", 0}, {about(first), "0", 0}}, a.list())
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
	require.Len(t, d.Attempts, 2)
	assert.Equal(t, "duplicate", d.Attempts[1].Fault)
	assert.Equal(t, d.Attempts[0].WebhookID, d.Attempts[1].WebhookID)

	second := paid(t, s)
	assert.Len(t, a.list(), 1)
	s.Advance(time.Hour)
	assert.Equal(t, []arrival{{about(second), "0", time.Minute}}, a.list())
	paid(t, s)
	s.Advance(time.Hour)
	assert.Len(t, a.list(), 1, "the third is not struck")
}

// A duplicate whose first copy fails does not disturb the schedule.
func TestDuplicateOfAFailedWebhook(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 500, mockserver.Fault{Kind: "duplicate", Nth: 1, Delay: time.Second})
	id := paid(t, s)
	s.Advance(76 * time.Hour)
	list := a.list()
	require.Len(t, list, 11)
	assert.Equal(t, []arrival{{about(id), "0", 0}, {about(id), "0", time.Second}, {about(id), "1", 5 * time.Second}}, list[:3])
	assert.Equal(t, 75*time.Hour+35*time.Minute+5*time.Second, list[10].after)
	assert.Equal(t, mockserver.DeliveryFailed, onlyDelivery(t, s).Status)
}

func TestDelayedWebhook(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "delay", Delay: 7 * time.Second, Nth: 1})
	id := paid(t, s)
	s.Advance(6 * time.Second)
	assert.Empty(t, a.list())
	assert.Equal(t, mockserver.DeliveryPending, onlyDelivery(t, s).Status)
	poll(t, s) // the payment is COMPLETE now, and the webhook is still in flight
	s.Advance(time.Hour)
	assert.Equal(t, []arrival{{about(id), "0", 7 * time.Second}}, a.list())
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
	require.Len(t, d.Attempts, 1)
	assert.Equal(t, start, d.Attempts[0].Started)
	assert.Equal(t, start.Add(7*time.Second), d.Attempts[0].Ended)
	assert.Equal(t, "delay", d.Attempts[0].Fault)
}

// A webhook that takes longer than the service waits counts as failed, is sent again,
// and arrives after its successor.
func TestWebhookDelayedBeyondItsTimeout(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "delay", Delay: time.Minute, Nth: 1})
	id := paid(t, s)
	s.Advance(time.Hour)
	assert.Equal(t, []arrival{{about(id), "1", 15 * time.Second}, {about(id), "0", time.Minute}}, a.list())
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
	require.Len(t, d.Attempts, 3)
	assert.Equal(t, start.Add(10*time.Second), d.Attempts[0].Ended)
	assert.Equal(t, "no answer within 10s", d.Attempts[0].Err)
	assert.Equal(t, []string{"delay", "", "delay"}, []string{d.Attempts[0].Fault, d.Attempts[1].Fault, d.Attempts[2].Fault})
}

func TestReorderedWebhooks(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "reorder", Nth: 1}, mockserver.Fault{Kind: "reorder", Nth: 3, Delay: 8 * time.Second})
	first, second, third := create(t, s, ""), create(t, s, ""), create(t, s, "")
	deposit(t, s, first, 1)
	assert.Empty(t, a.list(), "it waits for another one")
	s.Advance(time.Second)
	deposit(t, s, second, 1)
	assert.Equal(t, []arrival{{about(second), "0", time.Second}, {about(first), "0", time.Second}}, a.list())
	deposit(t, s, third, 1)
	s.Advance(time.Hour)
	assert.Equal(t, []arrival{{about(third), "0", 9 * time.Second}}, a.list(), "none came, so it was held for the Delay alone")
	for _, d := range s.Deliveries() {
		assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
		assert.Len(t, d.Attempts, 1)
	}
}

func TestReorderSwapsPairs(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "reorder"})
	var ids []string
	for range 4 {
		id := create(t, s, "")
		ids = append(ids, id)
		deposit(t, s, id, 1)
		s.Advance(0)
	}
	var came []string
	for _, arrival := range a.list() {
		came = append(came, arrival.body)
	}
	assert.Equal(t, []string{about(ids[1]), about(ids[0]), about(ids[3]), about(ids[2])}, came)
}

func TestWebhookToADeadURI(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "dead-uri", Nth: 1})
	id := paid(t, s)
	assert.Empty(t, a.list())
	d := onlyDelivery(t, s)
	assert.Contains(t, d.Attempts[0].Err, "127.0.0.1:1")
	assert.Equal(t, mockserver.DeliveryPending, d.Status)
	s.Advance(5 * time.Second)
	assert.Equal(t, []arrival{{about(id), "1", 5 * time.Second}}, a.list())
}

// The service retries a webhook whose response it never got.
func TestWebhookResponseIsLost(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "drop-after", First: 2})
	id := paid(t, s)
	s.Advance(time.Hour)
	assert.Equal(t, []arrival{{about(id), "0", 0}, {about(id), "1", 5 * time.Second}, {about(id), "2", 5*time.Minute + 5*time.Second}}, a.list())
	d := onlyDelivery(t, s)
	assert.Contains(t, d.Attempts[0].Err, "connection reset by peer")
	assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
}

// A webhook held back when the server closes is never sent, and leaves no goroutine.
func TestCloseDropsHeldWebhooks(t *testing.T) {
	t.Parallel()
	s, a := receiving(t, 200, mockserver.Fault{Kind: "reorder", Nth: 1}, mockserver.Fault{Kind: "delay", Delay: time.Second, Nth: 3},
		mockserver.Fault{Kind: "duplicate", Delay: time.Second, Nth: 4})
	for range 4 {
		paid(t, s)
	}
	s.Advance(0)
	require.NoError(t, s.Close())
	s.Advance(time.Hour)
	assert.Len(t, a.list(), 3)
	for _, d := range s.Deliveries() {
		for _, attempt := range d.Attempts {
			assert.False(t, attempt.Ended.IsZero())
		}
	}
}
