package mockserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// offsets are the cumulative times of interface §6.4, written out a second time
// on purpose.
var offsets = []string{
	"0s", "5s", "5m5s", "35m5s", "2h35m5s", "7h35m5s", "17h35m5s", "31h35m5s", "51h35m5s", "75h35m5s",
}

func offset(t *testing.T, i int) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(offsets[i])
	require.NoError(t, err)
	return d
}

// seen is one webhook as a receiver saw it.
type seen struct {
	at     time.Time
	header http.Header
	method string
	body   string
}

// receiver is a webhook receiver behind a real socket that answers with status.
type receiver struct {
	url    string
	mu     sync.Mutex
	got    []seen
	status func(n int) int
	mock   *mockserver.Server
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body := make([]byte, req.ContentLength)
	_, _ = req.Body.Read(body)
	r.got = append(r.got, seen{r.mock.Now(), req.Header.Clone(), req.Method, string(body)})
	w.WriteHeader(r.status(len(r.got)))
}

func (r *receiver) all() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.got...)
}

func listen(t *testing.T, s *mockserver.Server, status func(n int) int) *receiver {
	t.Helper()
	r := &receiver{mock: s, status: status}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	require.NoError(t, s.SetWebhook(s.Token(), r.url))
	return r
}

func TestScheduleIsExactOverASocket(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	r := listen(t, s, func(int) int { return http.StatusInternalServerError })
	id := create(t, s, "")
	deposit(t, s, id, 10000)
	s.Advance(100 * time.Hour) // in real time this would never end

	got := r.all()
	require.Len(t, got, 10)
	for i, g := range got {
		assert.Equal(t, offset(t, i), g.at.Sub(start), "attempt %d", i)
		assert.Equal(t, []string{strconv.Itoa(i)}, g.header["X-Retry-Count"])
		assert.Equal(t, got[0].header.Get("X-Webhook-Id"), g.header.Get("X-Webhook-Id"))
		assert.Equal(t, []string{"application/json"}, g.header["Content-Type"])
		assert.Equal(t, []string{"DepositPay-Payments-Webhook/1.0"}, g.header["User-Agent"])
		assert.Equal(t, http.MethodPost, g.method)
		assert.Equal(t, `{"payment_id":"`+id+`"}`, g.body)
	}
	_, err := uuid.Parse(got[0].header.Get("X-Webhook-Id"))
	require.NoError(t, err)
	assert.NotEqual(t, id, got[0].header.Get("X-Webhook-Id"))

	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryFailed, d.Status)
	assert.True(t, d.NextDue.IsZero())
	require.Len(t, d.Attempts, 10)
	for i, a := range d.Attempts {
		want := start.Add(offset(t, i))
		assert.Equal(t, mockserver.Attempt{
			PaymentID: id, WebhookID: d.WebhookID, URL: r.url, RetryCount: i, Due: want, Started: want, Ended: want,
			HTTPStatus: 500, Err: "answered HTTP 500, only 200 counts",
		}, a)
	}
	s.Advance(1000 * time.Hour)
	assert.Len(t, r.all(), 10, "nothing follows the tenth attempt")
	_, more := s.JumpToNextAttempt()
	assert.False(t, more)
}

func TestOnlyHTTP200Counts(t *testing.T) {
	t.Parallel()
	for _, status := range []int{201, 202, 204, 301, 302, 307, 400, 404, 500, 503} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			s := stopped(t)
			r := listen(t, s, func(int) int { return status })
			paid(t, s)
			s.Advance(0)
			assert.Len(t, r.all(), 1)
			d := onlyDelivery(t, s)
			assert.Equal(t, mockserver.DeliveryPending, d.Status)
			assert.Equal(t, status, d.Attempts[0].HTTPStatus)
			assert.Equal(t, start.Add(5*time.Second), d.NextDue)
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	followed := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.Handle("/hook", http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { followed <- struct{}{} })
	server := httptest.NewServer(mux)
	defer server.Close()
	require.NoError(t, s.SetWebhook(s.Token(), server.URL+"/hook"))
	paid(t, s)
	s.Advance(0)
	assert.Equal(t, 307, onlyDelivery(t, s).Attempts[0].HTTPStatus)
	assert.Empty(t, followed)
}

func TestSuccessOnEveryAttempt(t *testing.T) {
	t.Parallel()
	for k := range 10 {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			t.Parallel()
			s := stopped(t)
			r := listen(t, s, func(n int) int {
				if n == k+1 {
					return http.StatusOK
				}
				return http.StatusBadGateway
			})
			id := paid(t, s)
			s.Advance(200 * time.Hour)
			got := r.all()
			require.Len(t, got, k+1)
			assert.Equal(t, offset(t, k), got[k].at.Sub(start))
			d := onlyDelivery(t, s)
			assert.Equal(t, mockserver.DeliveryDelivered, d.Status)
			assert.Empty(t, d.Attempts[k].Err)
			assert.Contains(t, poll(t, s), id, "a delivered webhook leaves the payment in PROGRESS")
		})
	}
}

func TestConnectionErrorIsAFailure(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(func(*http.Request, string) (int, error) { return 0, errors.New("refused") }))
	paid(t, s)
	for i := 1; i < 10; i++ {
		a, ok := s.JumpToNextAttempt()
		require.True(t, ok)
		assert.Equal(t, i, a.RetryCount)
		assert.Equal(t, start.Add(offset(t, i)), a.Started)
		assert.Equal(t, "refused", a.Err)
		assert.Zero(t, a.HTTPStatus)
		assert.Equal(t, a.Started, s.Now())
	}
	_, ok := s.JumpToNextAttempt()
	assert.False(t, ok)
	assert.Equal(t, mockserver.DeliveryFailed, onlyDelivery(t, s).Status)
}

func TestHangingReceiverTimesOutOnTheMocksClock(t *testing.T) {
	t.Parallel()
	begun, cut := make(chan string, 20), make(chan struct{}, 20)
	s := stopped(t, patience(time.Millisecond), withHook(func(r *http.Request, body string) (int, error) {
		defer func() { cut <- struct{}{} }()
		return hangs(begun)(r, body)
	}))
	paid(t, s)
	assert.Equal(t, "0", <-begun)

	s.Advance(10*time.Second - 1)
	assert.True(t, onlyDelivery(t, s).Attempts[0].Ended.IsZero(), "one nanosecond before its timeout it still hangs")
	s.Advance(1)
	<-cut // the connection is cut, too
	a := onlyDelivery(t, s).Attempts[0]
	assert.Equal(t, start.Add(10*time.Second), a.Ended)
	assert.Contains(t, a.Err, "no answer within 10s")
	assert.Equal(t, start.Add(15*time.Second), onlyDelivery(t, s).NextDue, "the wait runs from the failure")

	a, ok := s.JumpToNextAttempt()
	require.True(t, ok)
	assert.Equal(t, 1, a.RetryCount)
	assert.Equal(t, start.Add(15*time.Second), a.Started)
	assert.Equal(t, start.Add(25*time.Second), a.Ended, "a jump ends the attempt that it sent")

	s.Advance(200 * time.Hour)
	d := onlyDelivery(t, s)
	assert.Equal(t, mockserver.DeliveryFailed, d.Status)
	require.Len(t, d.Attempts, 10)
	assert.Equal(t, start.Add(offset(t, 9)+100*time.Second), d.Attempts[9].Ended, "each hanging attempt adds 10 s")
}

func TestJumpExpiresAHangingAttemptFirst(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 20)
	s := stopped(t, withHook(hangs(begun)), patience(time.Millisecond))
	paid(t, s)
	<-begun
	a, ok := s.JumpToNextAttempt()
	require.True(t, ok)
	assert.Equal(t, 1, a.RetryCount)
	assert.Equal(t, start.Add(15*time.Second), a.Due)
}

func TestHangingReceiverHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 20)
	hang := hangs(begun)
	var slow string
	s := stopped(t, patience(time.Millisecond), withHook(func(r *http.Request, body string) (int, error) {
		if body == `{"payment_id":"`+slow+`"}` {
			return hang(r, body)
		}
		return http.StatusOK, nil
	}))
	slow = create(t, s, "")
	quick := create(t, s, "")
	deposit(t, s, slow, 1)
	<-begun
	deposit(t, s, quick, 1)
	require.Eventually(t, func() bool { return s.Deliveries()[1].Status == mockserver.DeliveryDelivered }, patienceForBrowsers, tickOfBrowsers)
	s.Advance(0)
	list := s.Deliveries()
	assert.Equal(t, mockserver.DeliveryPending, list[0].Status)
	assert.Equal(t, mockserver.DeliveryDelivered, list[1].Status)
	assert.Contains(t, poll(t, s), slow, "the API answers meanwhile")
}

func TestAttemptsOfSeveralPaymentsRunInDueOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	s := stopped(t, withHook(func(r *http.Request, body string) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, body[15:51]+" "+r.Header.Get("X-Retry-Count"))
		return http.StatusTeapot, nil
	}))
	a, b := create(t, s, ""), create(t, s, "")
	deposit(t, s, a, 1)
	s.Advance(2 * time.Second)
	deposit(t, s, b, 1)
	s.Advance(5*time.Minute + 8*time.Second)
	assert.Equal(t, []string{a + " 0", b + " 0", a + " 1", b + " 1", a + " 2", b + " 2"}, order)
}

func TestJumpRunsOneOfSeveralAtOneInstant(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(http.StatusTeapot)))
	var ids []string
	for range 5 {
		id := paid(t, s)
		s.Advance(0) // ends this first attempt, so that the retries are scheduled in order
		ids = append(ids, id)
	}
	for _, id := range ids {
		a, ok := s.JumpToNextAttempt()
		require.True(t, ok)
		assert.Equal(t, id, a.PaymentID)
		assert.Equal(t, start.Add(5*time.Second), a.Started)
	}
}
