package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
)

// heap is what is in use, without garbage.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the first one only frees what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// 100,000 payments that went the whole way, with items, webhooks and timelines, take
// less than 150 MiB. It does not run next to other tests, whose memory would count.
func TestMemoryOfManyPayments(t *testing.T) { //nolint:paralleltest // see above
	n := racing.Size(100_000, 10_000)
	limit := n * (150 << 20) / 100_000
	before := heap()
	s, err := mockserver.New(mockserver.Config{
		Clock: mockserver.NewStoppedClock(start), Applications: hooked, WebhookTransport: answers(http.StatusOK),
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	handler := s.Handler()
	for i := range n {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequest("POST", "/payments", strings.NewReader(fmt.Sprintf(
			`{"token":"test_demo","title":"100 diamonds","identifier":"c0ffee00-0000-4000-8000-%012d","amount":10000,
			"items":[{"name":"Small bag of diamonds","price":5000,"count":2}]}`, i))))
		var created struct{ PayToken string }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &created))
		_, err := s.GivePayer(created.PayToken, fmt.Sprint("Customer ", i), 0)
		require.NoError(t, err)
		_, err = s.Deposit(created.PayToken, mockserver.Deposit{})
		require.NoError(t, err)
		if i%100 == 0 {
			s.Advance(0)
		}
	}
	s.Advance(0)
	for range n {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequest("GET", "/callback/rest?token=test_demo", nil))
		require.Contains(t, rec.Body.String(), "COMPLETE")
	}
	used := heap() - before
	t.Logf("%d payments take %d MiB, %d bytes each", n, used>>20, used/uint64(n))
	assert.Less(t, used, uint64(limit))
	assert.True(t, s.CheckNothingWaiting(t))
	assert.Len(t, s.Payments(), n)
}

// BenchmarkNew is a server with its first request, which every test pays for.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		s, err := mockserver.New(mockserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, httptest.NewRequest("POST", "/payments", strings.NewReader(`{"token":"test_demo","title":"T","identifier":"i"}`)))
		if err := s.Close(); err != nil || rec.Code != http.StatusOK {
			b.Fatal(rec.Code, err)
		}
	}
}

// TestPayerNamesCountTowardTheCap: the name of a payer is a text like any other.
func TestPayerNamesCountTowardTheCap(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	long := strings.Repeat("x", 100<<20)
	ids := []string{create(t, s, ""), create(t, s, ""), create(t, s, "")}
	for _, id := range ids[:2] {
		_, err := s.Deposit(id, mockserver.Deposit{Payer: long, Amount: 1})
		require.NoError(t, err)
	}
	_, err := s.Deposit(ids[2], mockserver.Deposit{Payer: long, Amount: 1})
	wantCode(t, mockserver.CodeStorageFull, err)
	p, _ := s.Payment(ids[2])
	assert.Equal(t, mockserver.StatusCreated, p.Status)
	assert.Empty(t, p.Payer)
	deposit(t, s, ids[2], 1)
}

// TestEmptyPollIsCheap: merchants poll all day, nearly always without a result. The time is
// measured by the benchmark; what is allocated is the same on every machine: the call.
func TestEmptyPollIsCheap(t *testing.T) { //nolint:paralleltest // other tests allocate, too
	s, err := mockserver.New(mockserver.Config{MaxRequests: 10})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	poll := emptyPoll(t, s)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, poll), 1.0)
}

// BenchmarkEmptyPoll is a poll in process, without a socket.
func BenchmarkEmptyPoll(b *testing.B) {
	s, err := mockserver.New(mockserver.Config{})
	require.NoError(b, err)
	poll := emptyPoll(b, s)
	b.ReportAllocs()
	for b.Loop() {
		poll()
	}
	require.NoError(b, s.Close())
}

// emptyPoll polls with a writer that discards the response.
func emptyPoll(t testing.TB, s *mockserver.Server) func() {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8080/callback/rest?token="+s.Token(), nil)
	require.NoError(t, err)
	w, handler := deaf{}, s.Handler()
	return func() { handler.ServeHTTP(w, r) }
}

// deaf is a connection without a client.
type deaf http.Header

func (d deaf) Header() http.Header       { return http.Header(d) }
func (deaf) Write(b []byte) (int, error) { return len(b), nil }
func (deaf) WriteHeader(int)             {}
