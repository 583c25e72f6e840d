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
// less than 150 MiB. It does not run beside other tests, whose memory would count.
func TestMemoryOfManyPayments(t *testing.T) { //nolint:paralleltest // see above
	const n, limit = 100_000, 150 << 20
	before := heap()
	s := stopped(t, withHook(answers(http.StatusOK)))
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
	t.Logf("%d payments take %d MiB, %d bytes each", n, used>>20, used/n)
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

// TestPayersCount: the name of a payer is a text like any other.
func TestPayersCount(t *testing.T) {
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
