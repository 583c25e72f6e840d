package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestCreateAnswersPayTokenAlone(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	answer := api(t, s, "POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i"}`)
	assert.Regexp(t, `^\{"payToken":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"\}$`, answer)
	assert.Equal(t, mockserver.StatusCreated, s.Payments()[0].Status)
}

func TestPollRecordExact(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"amount":10000,"icon":"https://x.example/i.png",
		"items":[{"name":"b","price":3,"count":2,"icon":"https://x.example/b.png"},{"price":4.0,"name":"a \"q\""}]`)
	deposit(t, s, id, 0)
	s.Advance(1500 * time.Millisecond)
	assert.Equal(t, `{"id":"`+id+`","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":10000,`+
		`"verified_ts":"2025-03-01T12:00:01Z",`+
		`"metadata":{"items":[{"name":"b","price":3,"count":2},{"name":"a \"q\"","price":4,"count":1}]}}`, poll(t, s))
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
	assert.Equal(t, mockserver.StatusComplete, s.Payments()[0].Status)
}

func TestRecordWithoutItemsHasNoMetadata(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"items":[],"amount":null,"icon":null`)
	deposit(t, s, id, 9223372036854775807)
	assert.Equal(t, `{"id":"`+id+`","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT",`+
		`"paid_amount":9223372036854775807,"verified_ts":"2025-03-01T12:00:00Z"}`, poll(t, s))
}

func TestPollIsFirstInFirstOutByDeposit(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	a, b, c := create(t, s, ""), create(t, s, ""), create(t, s, "")
	for _, id := range []string{c, a, b} {
		deposit(t, s, id, 1)
	}
	confirm(t, s, a)
	assert.Contains(t, poll(t, s), c)
	assert.Contains(t, poll(t, s), b, "a confirmed payment is not polled")
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
}

func TestConfirmLifeCycle(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"amount":500`)
	wantError(t, mockserver.CodePaymentNotPaid, confirm(t, s, id))
	_, err := s.Deposit(id, mockserver.Deposit{Method: "CULTURE"})
	require.NoError(t, err)
	want := `{"id":"` + id + `","identifier":"order-1","status":"COMPLETE","method":"CULTURE","paid_amount":500,"verified_ts":"2025-03-01T12:00:00Z"}`
	assert.Equal(t, want, confirm(t, s, id))
	s.Advance(time.Hour)
	assert.Equal(t, want, confirm(t, s, id), "a repetition answers the same record")
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
}

func TestConfirmAfterPollAnswersTheSameRecord(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, "")
	deposit(t, s, id, 7)
	polled := poll(t, s)
	s.Advance(time.Minute)
	assert.Equal(t, polled, confirm(t, s, id))
}

func TestApplicationsAreIsolated(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) {
		c.Applications = []mockserver.Application{{Token: "test_a"}, {Token: "test_b"}}
	})
	id := create(t, s, "")
	deposit(t, s, id, 7)
	wantError(t, mockserver.CodeNoProcessedPayment, api(t, s, "GET", "/callback/rest?token=test_b", ""))
	other := `{"token":"test_b","payToken":"` + id + `"}`
	wantError(t, mockserver.CodePaymentNotFound, api(t, s, "POST", "/payments/confirm", other))
	wantError(t, mockserver.CodePaymentNotFound, api(t, s, "POST", "/callback/webhook/resend", other))
	wantError(t, mockserver.CodePaymentNotFound, api(t, s, "GET", "/callback/webhook/status?token=test_b&payToken="+id, ""))
	assert.Contains(t, poll(t, s), id)
}

func TestUnknownPayments(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, "")
	for _, unknown := range []string{"nonsense", "00000000-0000-4000-8000-000000000000", strings.ToUpper(id), id + " "} {
		wantError(t, mockserver.CodePaymentNotFound, confirm(t, s, unknown))
		wantError(t, mockserver.CodePaymentNotFound, resend(t, s, unknown))
		wantError(t, mockserver.CodePaymentNotFound, webhookStatus(t, s, unknown))
		_, err := s.Deposit(unknown, mockserver.Deposit{Amount: 1})
		wantCode(t, mockserver.CodePaymentNotFound, err)
	}
}

func TestDepositRules(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	free, fixed := create(t, s, ""), create(t, s, `"amount":10000`)
	for _, d := range []mockserver.Deposit{
		{}, {Amount: -1}, {Amount: 1, Method: "deposit"}, {Amount: 1, Payer: "\xff"}, {Failed: true, Method: "DEPOSIT"},
		{Failed: true, Amount: -5},
	} {
		_, err := s.Deposit(free, d)
		wantCode(t, mockserver.CodeInvalidParameter, err)
	}
	p, err := s.Deposit(free, mockserver.Deposit{Payer: "김", Amount: 12})
	require.NoError(t, err)
	assert.Equal(t, mockserver.Payment{
		ID: free, Application: "Application 1", Identifier: "order-1", Title: "T", Status: mockserver.StatusProgress, Payer: "김",
		Method: "DEPOSIT", PaidAmount: 12, CreatedAt: start, DepositedAt: start,
	}, p)
	_, err = s.Deposit(free, mockserver.Deposit{Amount: 12})
	wantCode(t, mockserver.CodePaymentAlreadyPaid, err)

	p, err = s.Deposit(fixed, mockserver.Deposit{Amount: 9999})
	require.NoError(t, err)
	assert.Equal(t, int64(9999), p.PaidAmount, "the amount paid counts, not the price")
	poll(t, s)
	poll(t, s)
	_, err = s.Deposit(fixed, mockserver.Deposit{})
	wantCode(t, mockserver.CodePaymentAlreadyPaid, err)

	voucher := create(t, s, `"amount":10000`)
	_, err = s.Deposit(voucher, mockserver.Deposit{Failed: true})
	require.NoError(t, err)
	assert.Contains(t, poll(t, s), `"method":"CULTURE","paid_amount":0`)
}

func TestIdentifierComesBackVerbatim(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for _, identifier := range []string{
		"ab12-UPPER", " spaces ", "한글 😀", "a\"b\\c/d", "\x00\x01\x1f\x7f\t\r\n", "<&>\u2028", "\ufffd", strings.Repeat("x", 50_000),
	} {
		quoted, err := json.Marshal(identifier)
		require.NoError(t, err)
		answer := api(t, s, "POST", "/payments", `{"token":"test_demo","title":"T","identifier":`+string(quoted)+`}`)
		var created struct{ PayToken string }
		require.NoError(t, json.Unmarshal([]byte(answer), &created))
		deposit(t, s, created.PayToken, 1)
		var record struct{ Identifier string }
		require.NoError(t, json.Unmarshal([]byte(poll(t, s)), &record))
		assert.Equal(t, identifier, record.Identifier)
	}
}

func TestBanks(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	var basic, detailed []map[string]any
	require.NoError(t, json.Unmarshal([]byte(api(t, s, "GET", "/mobile/banks", "")), &basic))
	require.NoError(t, json.Unmarshal([]byte(api(t, s, "GET", "/mobile/banks?details=true", "")), &detailed))
	require.GreaterOrEqual(t, len(basic), 12)
	require.Len(t, detailed, len(basic))
	for i := range basic {
		assert.Len(t, basic[i], 3)
		assert.Len(t, detailed[i], 8)
		for _, key := range []string{"name", "package", "logo"} {
			assert.NotEmpty(t, basic[i][key])
			assert.Equal(t, basic[i][key], detailed[i][key])
		}
		assert.InDelta(t, i+1, detailed[i]["id"], 0)
		assert.Equal(t, true, detailed[i]["status"])
		assert.Equal(t, basic[i]["package"], detailed[i]["app_package"])
		assert.Regexp(t, `^https://`, detailed[i]["icon"])
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, detailed[i]["last_updated_ts"])
	}
	assert.Equal(t, api(t, s, "GET", "/mobile/banks", ""), api(t, s, "GET", "/mobile/banks?details=false", ""))
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/mobile/banks?details=maybe", ""), "details")
}

func TestMobileDeposit(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests = 2 })
	upload := func(body string) string { return api(t, s, "POST", "/mobile/deposit", body) }
	assert.Equal(t, `{"result":"IGNORED"}`, upload(`{"package":"com.example.game","title":"t","text":"x"}`))
	assert.Empty(t, s.Notifications())
	received := regexp.MustCompile(`^\{"result":"RECEIVED","deposit_id":"([0-9a-f-]{36})"\}$`)
	var ids []string
	for i := range 3 {
		match := received.FindStringSubmatch(upload(fmt.Sprintf(`{"package":"com.kbstar.kbbank","title":"입금","subtitle":"s%d","text":"x","token":"test_demo"}`, i)))
		require.NotNil(t, match)
		ids = append(ids, match[1])
	}
	assert.Equal(t, []mockserver.Notification{
		{ID: ids[1], Package: "com.kbstar.kbbank", Title: "입금", Subtitle: "s1", Text: "x", ReceivedAt: start, Result: mockserver.ResultReceived},
		{ID: ids[2], Package: "com.kbstar.kbbank", Title: "입금", Subtitle: "s2", Text: "x", ReceivedAt: start, Result: mockserver.ResultReceived},
	}, s.Notifications(), "the oldest is forgotten")
	wantError(t, mockserver.CodeInvalidToken, upload(`{"package":"com.kbstar.kbbank","title":"t","token":"test_other"}`))
	wantError(t, mockserver.CodeInvalidParameter, upload(`{"title":"t"}`), "package")
	wantError(t, mockserver.CodeInvalidParameter, upload(`{"package":"com.kbstar.kbbank"}`), "title")
	wantError(t, mockserver.CodeInvalidParameter, upload(`{"package":"com.kbstar.kbbank","text":7}`), "text")
}

func TestTokensPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	wantError(t, mockserver.CodeInvalidToken, api(t, s, "GET", "/callback/rest?token=test_x", ""))
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/callback/rest", ""), "token")
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/callback/rest?token=", ""), "token")
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/callback/rest?token=test_demo&token=test_demo", ""), "twice")
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/callback/rest?token=%zz", ""), "percent")
	wantError(t, mockserver.CodeNoProcessedPayment, api(t, s, "GET", "/callback/rest?x=%zz&tok%65n=test%5Fdemo", ""))
	wantError(t, mockserver.CodeNoProcessedPayment, api(t, s, "GET", "/callback/rest?token=test_demo", "{"))
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "GET", "/callback/webhook/status?token=test_demo", ""), "payToken")
	for _, path := range []string{"/payments", "/payments/confirm", "/callback/webhook/resend"} {
		wantError(t, mockserver.CodeInvalidToken, api(t, s, "POST", path, `{"token":"test_x","title":"T","identifier":"i","payToken":"x"}`))
		wantError(t, mockserver.CodeInvalidParameter, api(t, s, "POST", path, `{"title":"T","identifier":"i","payToken":"x"}`), "token")
		wantError(t, mockserver.CodeMethodNotAllowed, api(t, s, "GET", path, ""), "POST")
	}
	for _, path := range []string{"/callback/rest", "/mobile/banks", "/callback/webhook/status"} {
		wantError(t, mockserver.CodeMethodNotAllowed, api(t, s, "POST", path, ""), "GET")
	}
	wantError(t, mockserver.CodeMethodNotAllowed, api(t, s, "GET", "/mobile/deposit", ""), "POST")
	for _, path := range []string{"/", "/payments/", "/api/payments", "/_mockery", "/callback"} {
		wantError(t, mockserver.CodeNotFound, api(t, s, "GET", path, ""))
	}
}

func TestConcurrentPollersGetEachPaymentOnce(t *testing.T) {
	t.Parallel()
	const payments, pollers = 1000, 64
	s := stopped(t)
	want := map[string]bool{}
	for range payments {
		id := paid(t, s)
		want[id] = true
	}
	var mu sync.Mutex
	got := map[string]int{}
	client := &http.Client{Transport: s.Transport()}
	var wg sync.WaitGroup
	for range pollers {
		wg.Go(func() {
			for {
				resp, err := client.Get(s.URL() + "/callback/rest?token=test_demo")
				if !assert.NoError(t, err) {
					return
				}
				var out struct{ ID, Error string }
				err = json.NewDecoder(resp.Body).Decode(&out)
				_ = resp.Body.Close()
				if !assert.NoError(t, err) || out.Error == string(mockserver.CodeNoProcessedPayment) {
					return
				}
				mu.Lock()
				got[out.ID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, got, payments)
	for id, n := range got {
		assert.True(t, want[id])
		assert.Equal(t, 1, n)
	}
}

// A long queue gives the memory of its polled half back; no payment may get lost
// or change its place over that.
func TestLongQueueKeepsItsOrder(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	var ids []string
	pay := func(n int) {
		for range n {
			id := paid(t, s)
			ids = append(ids, id)
		}
	}
	take := func(n int) {
		for range n {
			require.Contains(t, poll(t, s), `"id":"`+ids[0]+`"`)
			ids = ids[1:]
		}
	}
	pay(2500)
	take(1500)
	pay(10)
	take(1010)
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
	pay(3)
	take(3)
}
