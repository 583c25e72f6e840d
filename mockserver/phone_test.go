package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
)

const kb = "com.kbstar.kbbank"

// phoneAnswer is every field that an answer to an upload may have.
type phoneAnswer struct {
	Result, Reason, PayToken string
	DepositID                string `json:"deposit_id"`
	Repeated                 bool
}

// upload sends a notification with further fields, as in `"token":"test_demo"`.
func upload(t *testing.T, s *mockserver.Server, title, text string, fields ...string) phoneAnswer {
	t.Helper()
	quoted := func(text string) string {
		b, err := json.Marshal(text)
		require.NoError(t, err)
		return string(b)
	}
	fields = append([]string{`"package":"` + kb + `"`, `"title":` + quoted(title), `"text":` + quoted(text)}, fields...)
	raw := api(t, s, "POST", "/mobile/deposit", "{"+strings.Join(fields, ",")+"}")
	var out phoneAnswer
	require.NoError(t, json.Unmarshal([]byte(raw), &out), raw)
	require.NotEmpty(t, out.Result, raw)
	return out
}

// waiting creates a payment whose customer has given a name, and for a payment
// without a price an amount.
func waiting(t *testing.T, s *mockserver.Server, payer string, price, chosen int64) string {
	t.Helper()
	fields := ""
	if price > 0 {
		fields = fmt.Sprintf(`"amount":%d`, price)
	}
	id := create(t, s, fields)
	_, err := s.GivePayer(id, payer, chosen)
	require.NoError(t, err)
	return id
}

func payment(t *testing.T, s *mockserver.Server, id string) mockserver.Payment {
	t.Helper()
	p, ok := s.Payment(id)
	require.True(t, ok)
	return p
}

func TestBankListAndFormsAreTheSameBanks(t *testing.T) {
	t.Parallel()
	var list []struct{ Name, Package string }
	require.NoError(t, json.Unmarshal([]byte(api(t, stopped(t), "GET", "/mobile/banks", "")), &list))
	want := map[string]string{}
	for _, b := range notice.Banks {
		want[b.Package] = b.Name
	}
	got := map[string]string{}
	for _, b := range list {
		got[b.Package] = b.Name
	}
	assert.Equal(t, want, got)
}

func TestMatchedDepositGoesToProgressWithItsWebhook(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	s := stopped(t, withHook(func(_ *http.Request, body string) (int, error) { sent <- body; return 200, nil }))
	other, id := waiting(t, s, "김철수", 9000, 0), waiting(t, s, "김 철수", 0, 10_000)
	got := upload(t, s, "입금 10,000원", "김*수 → 내 통장")
	require.Equal(t, phoneAnswer{Result: "MATCHED", PayToken: id, DepositID: got.DepositID}, got)
	_, err := uuid.Parse(got.DepositID)
	assert.NoError(t, err)
	assert.Equal(t, `{"payment_id":"`+id+`"}`, <-sent)
	p := payment(t, s, id)
	assert.Equal(t, mockserver.StatusProgress, p.Status)
	assert.Equal(t, int64(10_000), p.PaidAmount)
	assert.Equal(t, "DEPOSIT", p.Method)
	assert.Equal(t, "김 철수", p.Payer, "a hidden name does not replace the one that the customer gave")
	assert.Equal(t, mockserver.StatusWaiting, payment(t, s, other).Status)
	assert.Empty(t, s.Unmatched())
	kept := s.Notifications()[0]
	assert.Equal(t, mockserver.Notification{
		ID: got.DepositID, Package: kb, Title: "입금 10,000원", Text: "김*수 → 내 통장", ReceivedAt: start,
		Result: mockserver.ResultMatched, PaymentID: id,
	}, kept)
	assert.Contains(t, poll(t, s), `"id":"`+id+`"`)
}

func TestUnmatchedReasons(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	kim1, kim2 := waiting(t, s, "김철수", 100, 0), waiting(t, s, "김철수", 100, 0)
	lee := waiting(t, s, "이영희", 500, 0)
	create(t, s, `"amount":700`) // without a payer
	for _, c := range []struct {
		title, text, reason, payer string
		amount                     int64
		candidates                 []string
	}{
		{"입금 100원", "김철수", "SEVERAL", "김철수", 100, []string{kim1, kim2}},
		{"입금 100원", "김*수", "SEVERAL", "김*수", 100, []string{kim1, kim2}},
		{"입금 400원", "이영희", "AMOUNT_DIFFERS", "이영희", 400, []string{lee}},
		{"입금 600원", "이*희", "AMOUNT_DIFFERS", "이*희", 600, []string{lee}},
		{"입금 700원", "박철수", "NO_MATCH", "박철수", 700, nil},
		{"입금 500원", "이*", "NO_MATCH", "이*", 500, nil},
		{"입금 500원", "이영희 600원", "NOT_READABLE", "이영희", 0, nil},
		{"입금 500원", "***", "NOT_READABLE", "", 500, nil},
	} {
		got := upload(t, s, c.title, c.text)
		assert.Equal(t, phoneAnswer{Result: "UNMATCHED", Reason: c.reason, DepositID: got.DepositID}, got, c.text)
		list := s.Unmatched()
		last := list[len(list)-1]
		assert.Equal(t, mockserver.Unmatched{
			Notification: s.Notifications()[len(list)-1], Reason: mockserver.UnmatchedReason(c.reason),
			Payer: c.payer, Amount: c.amount, Candidates: c.candidates,
		}, last)
	}
	for _, p := range s.Payments() {
		assert.Contains(t, []mockserver.Status{mockserver.StatusWaiting, mockserver.StatusCreated}, p.Status)
	}
}

func TestNonDepositChangesNothing(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	waiting(t, s, "김철수", 100, 0)
	for _, text := range []string{
		"출금 100원 김철수", "김철수 100원 입금취소", "100만원 입금하면 김철수님께 100원 쿠폰", "입금 예정 100원 김철수", "김철수님에게 100원을 보냈어요",
	} {
		got := upload(t, s, "알림", text)
		assert.Equal(t, phoneAnswer{Result: "RECEIVED", DepositID: got.DepositID}, got, text)
	}
	assert.Empty(t, s.Unmatched())
	assert.Len(t, s.Notifications(), 5)
	assert.Equal(t, `{"result":"IGNORED"}`,
		api(t, s, "POST", "/mobile/deposit", `{"package":"com.example.game","title":"입금 100원","text":"김철수"}`))
	assert.Len(t, s.Notifications(), 5)
	assert.Equal(t, mockserver.StatusWaiting, s.Payments()[0].Status)
}

func TestCandidatesAwaitTheirDeposit(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := waiting(t, s, "김철수", 100, 0)
	_, err := s.GivePayer(id, "박영희", 0)
	require.NoError(t, err)
	assert.Equal(t, "NO_MATCH", upload(t, s, "입금 100원", "김철수").Reason, "the payer was corrected")
	_, err = s.GivePayer(id, "김철수", 0)
	require.NoError(t, err)
	assert.Equal(t, id, upload(t, s, "입금 100원", "김철수 1234****5678").PayToken, "and corrected back: it is one candidate, not two")
	assert.Equal(t, "NO_MATCH", upload(t, s, "입금 100원", "김철수 07/15").Reason, "it is paid")
}

func TestExpiredPaymentIsMatchedOnlyWithLateDeposit(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s := stopped(t, func(c *mockserver.Config) { c.Lifetime, c.LateDeposit = time.Hour, late })
		id := waiting(t, s, "김철수", 100, 0)
		s.Advance(time.Hour)
		require.Equal(t, mockserver.StatusExpired, payment(t, s, id).Status)
		got := upload(t, s, "입금 100원", "김철수")
		if late {
			assert.Equal(t, id, got.PayToken)
		} else {
			assert.Equal(t, "NO_MATCH", got.Reason)
		}
	}
}

func TestTokenNarrowsCandidates(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) {
		c.Applications = []mockserver.Application{{Token: "test_demo"}, {Token: "test_b"}}
	})
	id := waiting(t, s, "김철수", 100, 0)
	var out struct{ PayToken string }
	require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments", `{"token":"test_b","title":"T","identifier":"i","amount":100}`)), &out))
	_, err := s.GivePayer(out.PayToken, "김철수", 0)
	require.NoError(t, err)
	assert.Equal(t, "SEVERAL", upload(t, s, "입금 100원", "김철수").Reason, "without a token all payments count")
	assert.Equal(t, out.PayToken, upload(t, s, "입금 100원", "김철수", `"token":"test_b"`).PayToken)
	assert.Equal(t, "NO_MATCH", upload(t, s, "입금 100원", "김철수 07/15", `"token":"test_b"`).Reason)
	assert.Equal(t, id, upload(t, s, "입금 100원", "김철수", `"token":"test_demo"`).PayToken)
}

func TestRepeatedUploadCountsOnce(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	first, second := waiting(t, s, "김철수", 100, 0), ""
	one := upload(t, s, "입금 100원", "김철수")
	require.Equal(t, first, one.PayToken)
	second = waiting(t, s, "김철수", 100, 0)
	s.Advance(5*time.Minute - 1)
	again := one
	again.Repeated = true
	assert.Equal(t, again, upload(t, s, "입금 100원", "김철수"), "the same answer again")
	assert.Len(t, s.Notifications(), 1)
	assert.Equal(t, mockserver.StatusWaiting, payment(t, s, second).Status)
	s.Advance(1)
	assert.Equal(t, second, upload(t, s, "입금 100원", "김철수").PayToken, "after five minutes it is another deposit")

	lost := upload(t, s, "입금 7원", "김철수")
	require.NoError(t, s.DismissUnmatched(lost.DepositID))
	assert.Equal(t, phoneAnswer{Result: "DISMISSED", DepositID: lost.DepositID, Repeated: true}, upload(t, s, "입금 7원", "김철수"))
}

func TestNotificationIDIsExact(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	a, b := waiting(t, s, "김철수", 100, 0), ""
	one := upload(t, s, "입금 100원", "김철수", `"notification_id":"n1"`)
	require.Equal(t, a, one.PayToken)
	b = waiting(t, s, "김철수", 100, 0)
	s.Advance(24 * time.Hour)
	again := one
	again.Repeated = true
	assert.Equal(t, again, upload(t, s, "입금 100원", "김철수", `"notification_id":"n1"`), "however late")
	assert.Equal(t, b, upload(t, s, "입금 100원", "김철수", `"notification_id":"n2"`).PayToken, "the same texts, another transfer")
	assert.Equal(t, "n2", s.Notifications()[1].NotificationID)
	wantError(t, mockserver.CodeInvalidParameter,
		api(t, s, "POST", "/mobile/deposit", `{"package":"`+kb+`","title":"입금 9원","notification_id":"n1"}`), "notification_id")
	wantError(t, mockserver.CodeInvalidParameter, api(t, s, "POST", "/mobile/deposit",
		`{"package":"`+kb+`","title":"입금 9원","notification_id":"`+strings.Repeat("n", 201)+`"}`), "notification_id")
	assert.Len(t, s.Notifications(), 2)
}

func TestUploadRefusedIsNotKept(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(http.StatusInternalServerError)), func(c *mockserver.Config) { c.MaxDeliveries = 1 })
	paid(t, s)
	id := waiting(t, s, "김철수", 100, 0)
	wantError(t, mockserver.CodeStorageFull,
		api(t, s, "POST", "/mobile/deposit", `{"package":"`+kb+`","title":"입금 100원","text":"김철수"}`), "MaxDeliveries")
	assert.Empty(t, s.Notifications())
	assert.Empty(t, s.Unmatched())
	s.Advance(100 * time.Hour)
	assert.Equal(t, id, upload(t, s, "입금 100원", "김철수").PayToken)
}

func TestSendNotification(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for i, b := range notice.Banks {
		id := waiting(t, s, "김철수", 0, 1000+int64(i))
		n, err := s.SendNotification(b.Package, "김철수", 1000+int64(i))
		require.NoError(t, err)
		assert.Equal(t, mockserver.ResultMatched, n.Result, "%s: %+v", b.Name, n)
		assert.Equal(t, id, n.PaymentID)
		s.Advance(time.Second)
	}
	requests := s.Requests()
	last := requests[len(requests)-1]
	assert.Equal(t, "/mobile/deposit", last.Path, "it went the phone's way")
	assert.Contains(t, last.Response, "MATCHED")

	one, err := s.SendNotification(kb, "박영희", 5)
	require.NoError(t, err)
	two, err := s.SendNotification(kb, "박영희", 5)
	require.NoError(t, err)
	assert.Equal(t, mockserver.ResultUnmatched, two.Result)
	assert.NotEqual(t, one.ID, two.ID, "the same deposit twice is two deposits")
	assert.Len(t, s.Unmatched(), 2)

	for name, bad := range map[string]struct {
		bank, payer string
		amount      int64
	}{
		"package": {"com.example.game", "김철수", 1},
		"payer":   {kb, " ", 1},
		"amount":  {kb, "김철수", 0},
	} {
		_, err := s.SendNotification(bad.bank, bad.payer, bad.amount)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		assert.ErrorContains(t, err, `"`+name+`"`)
	}
	require.NoError(t, s.Close())
	_, err = s.SendNotification(kb, "김철수", 1)
	wantCode(t, mockserver.CodeServerClosed, err)
}

func TestConcurrentNotificationsMatchEachPaymentOnce(t *testing.T) {
	t.Parallel()
	const n = 200
	s := stopped(t)
	for i := range n {
		waiting(t, s, fmt.Sprintf("김철수%d", i), 100, 0)
	}
	var wg sync.WaitGroup
	results := make([]phoneAnswer, 2*n)
	for i := range results { // every notification comes twice
		wg.Go(func() { results[i] = upload(t, s, "입금 100원", fmt.Sprintf("김철수%d", i%n)) })
	}
	wg.Wait()
	repeated := 0
	paid := map[string]int{}
	for _, r := range results {
		assert.Equal(t, "MATCHED", r.Result)
		if r.Repeated {
			repeated++
		}
		paid[r.PayToken]++
	}
	assert.Equal(t, n, repeated)
	assert.Len(t, paid, n)
	assert.Len(t, s.Notifications(), n)
}

func TestDroppedNotificationsAreNotRepeats(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests = 1 })
	first := upload(t, s, "출금 1원", "가나", `"notification_id":"n1"`)
	upload(t, s, "출금 2원", "가나", `"notification_id":"n2"`)
	again := upload(t, s, "출금 1원", "가나", `"notification_id":"n1"`)
	assert.False(t, again.Repeated)
	assert.NotEqual(t, first.DepositID, again.DepositID)
	assert.Len(t, s.Notifications(), 1)
}
