package mockserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// walk reads a list of the control API page by page and returns the values of a field.
func walk(t *testing.T, s *mockserver.Server, list, query, field string) (pages [][]any) {
	t.Helper()
	for before := ""; ; {
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(control(t, s, 200, "GET", "/"+list+"?"+query+before, "")), &answer))
		var page []any
		for _, entry := range answer[list].([]any) {
			page = append(page, entry.(map[string]any)[field])
		}
		pages = append(pages, page)
		next, more := answer["next"]
		if !more {
			return pages
		}
		before = fmt.Sprintf("&before=%.0f", next)
		require.Less(t, len(pages), 20, "the list has no end")
	}
}

// TestControlLists: lists are newest first and filtered by status, and reading them in parts
// returns every entry once.
func TestControlLists(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)))
	var ids []any
	for n := range 5 {
		id := create(t, s, `"amount":5`)
		ids = append([]any{id}, ids...)
		if n > 1 {
			deposit(t, s, id, 5)
		}
		upload(t, s, "입금 70원", fmt.Sprint("홍길동", n))
	}
	s.Advance(0)
	assert.Equal(t, [][]any{ids}, walk(t, s, "payments", "", "id"))
	assert.Equal(t, [][]any{ids[:2], ids[2:4], ids[4:]}, walk(t, s, "payments", "limit=2", "id"))
	assert.Equal(t, [][]any{ids[:2], ids[2:3]}, walk(t, s, "payments", "status=PROGRESS&limit=2", "id"))
	assert.Equal(t, [][]any{nil}, walk(t, s, "payments", "status=COMPLETE", "id"))
	assert.Equal(t, [][]any{ids[:2], ids[2:3]}, walk(t, s, "deliveries", "status=pending&limit=2", "payment_id"))
	assert.Equal(t, [][]any{nil}, walk(t, s, "deliveries", "status=failed", "payment_id"))
	assert.Equal(t, [][]any{{"홍길동4", "홍길동3", "홍길동2"}, {"홍길동1", "홍길동0"}}, walk(t, s, "unmatched", "limit=3", "payer"))
	assert.Equal(t, [][]any{{"홍길동4", "홍길동3", "홍길동2"}, {"홍길동1", "홍길동0"}}, walk(t, s, "notifications", "limit=3", "text"))
	assert.Equal(t, [][]any{{10.0, 9.0, 8.0, 7.0}, {6.0, 5.0, 4.0, 3.0}, {2.0, 1.0}}, walk(t, s, "requests", "limit=4", "number"))
	soon := func(query string) int {
		return strings.Count(control(t, s, 200, "GET", "/clock/attempts"+query, ""), `"number":2,"due_ts":"2025-03-01T12:00:05Z"`)
	}
	assert.Equal(t, []int{3, 2}, []int{soon(""), soon("?limit=2")})

	for path, names := range map[string]string{
		"/payments?status=PAID": "status", "/deliveries?status=PROGRESS": "status", "/requests?status=200": "status",
		"/payments?before=0": "before", "/unmatched?before=x": "before", "/notifications?limit=0": "limit",
		"/deliveries?limit=1001": "limit", "/payments?limit=1&limit=2": "limit", "/clock/attempts?limit=-1": "limit",
	} {
		wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "GET", path, ""), `"`+names+`"`)
	}
}

// TestControlListsOfARing: requests keep their numbers when the log drops the oldest.
func TestControlListsOfARing(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests = 3 })
	for range 5 {
		poll(t, s)
	}
	assert.Equal(t, [][]any{{5.0, 4.0}, {3.0}}, walk(t, s, "requests", "limit=2", "number"))
	assert.Equal(t, `{"requests":[]}`, control(t, s, 200, "GET", "/requests?before=3", ""))
}

// TestControlSummary: the summary has what the overview of the dashboard shows.
func TestControlSummary(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)))
	id := create(t, s, `"amount":5`)
	create(t, s, "")
	deposit(t, s, id, 5)
	s.Advance(0)
	upload(t, s, "입금 70원", "홍길동")
	sell(t, s, mockserver.Product{Name: "Sword", Price: 5})
	assert.JSONEq(t, `{"now":"2025-03-01T12:00:00Z","base_url":"http://127.0.0.1","checkout_url":"http://127.0.0.1/pay",
		"store_url":"http://127.0.0.1/store/","payments":{"CREATED":1,"WAITING":0,"PROGRESS":1,"COMPLETE":0,"EXPIRED":0},
		"deliveries":{"pending":1,"delivered":0,"failed":0},"unmatched":1,"faults":false,"products":1,"webhook":true,
		"next_attempt":{"payment_id":"`+id+`","title":"T","number":2,"due_ts":"2025-03-01T12:00:05Z"}}`,
		control(t, s, 200, "GET", "/summary", ""))
	assert.Contains(t, control(t, s, 200, "GET", "/payments/"+id+"/delivery", ""), `"next_attempt_ts":"2025-03-01T12:00:05Z"`)
	wantError(t, mockserver.CodePaymentNotFound, control(t, s, 404, "GET", "/payments/x/delivery", ""))
}

// TestControlNotifications: a program plays the bank phone, in the bank's wording or its own.
func TestControlNotifications(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := waiting(t, s, "이영희", 500, 0)
	send := func(want int, body string) string { return control(t, s, want, "POST", "/notifications", body) }
	assert.Contains(t, send(200, `{"package":"`+kb+`","payer":"이영희","amount":500}`), `"result":"MATCHED","payToken":"`+id+`"`)
	assert.Contains(t, send(200, `{"package":"`+kb+`","title":"체크카드 출금 3,000원"}`), `"result":"RECEIVED"`)
	assert.Contains(t, send(200, `{"package":"`+kb+`","text":"입금 5,000원 김민수"}`), `"reason":"NO_MATCH"`)
	assert.Equal(t, `{"result":"IGNORED"}`, send(200, `{"package":"com.example.game","text":"입금 5,000원"}`))
	wantError(t, mockserver.CodeInvalidParameter, send(400, `{"package":"`+kb+`","payer":"Kim","amount":0}`), "amount")
	wantError(t, mockserver.CodeInvalidParameter, send(400, `{"package":"x","payer":"Kim","amount":5}`), "package")
	wantError(t, mockserver.CodeInvalidParameter, send(400, `{"package":"`+kb+`"}`), "title")
	assert.Len(t, s.Notifications(), 3)
}

// TestControlRemoveFault: a rule is removed by its place, and only if it is still the rule
// that the caller means.
func TestControlRemoveFault(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for _, nth := range []int{1, 2} {
		require.NoError(t, s.AddFault(mockserver.Fault{Operation: "next", Kind: "html", Nth: nth}))
	}
	for _, path := range []string{"/faults/2", "/faults/-1", "/faults/x", "/faults/0?rule=next+nth%3D2+html"} {
		wantError(t, mockserver.CodeNotFound, control(t, s, 404, "DELETE", path, ""))
	}
	control(t, s, 200, "DELETE", "/faults/0?rule=next+nth%3D1+html", "")
	assert.Equal(t, `{"log":[],"rules":[]}`, control(t, s, 200, "DELETE", "/faults/0", ""))
}

// TestReset: after a reset the server is as New made it, except for its clock; attempts in
// flight are cut off and nothing follows from them.
func TestReset(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 9)
	s := stopped(t, withHook(hangs(begun)), patience(time.Millisecond), func(c *mockserver.Config) { c.Lifetime = 100 * time.Hour })
	busy := func() (id string) {
		id = create(t, s, `"amount":5`)
		deposit(t, s, id, 5)
		<-begun
		waiting(t, s, "이영희", 500, 0)
		upload(t, s, "입금 70원", "홍길동")
		return id
	}
	id := busy()
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "next", Kind: "cut"}))
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_second", Name: "Second"}))
	require.NoError(t, s.SetWebhook(s.Token(), "http://127.0.0.1:1/other"))
	sell(t, s, mockserver.Product{Name: "Sword", Price: 5})
	_, err := s.SaveStoreUser(mockserver.StoreUser{Name: "Kim"})
	require.NoError(t, err)
	s.Advance(time.Second)
	now, configured := s.Now(), s.Applications()[0]
	configured.WebhookURL = hookURL

	assert.Equal(t, "{}", control(t, s, 200, "POST", "/reset", ""))
	assert.Empty(t, s.Payments())
	assert.Empty(t, s.Deliveries())
	assert.Empty(t, s.Notifications())
	assert.Empty(t, s.Unmatched())
	assert.Empty(t, s.Requests())
	assert.Empty(t, s.Faults().Rules)
	assert.Empty(t, s.Products())
	assert.Empty(t, s.StoreUsers())
	assert.Equal(t, []mockserver.Application{configured}, s.Applications())
	assert.Equal(t, now, s.Now())
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
	wantError(t, mockserver.CodePaymentNotFound, confirm(t, s, id))
	_, ok := s.JumpToNextAttempt()
	assert.False(t, ok, "nothing is to come")

	again := busy() // the same once more, on the same server
	assert.Contains(t, poll(t, s), again)
	upload(t, s, "입금 500원", "이영희")
	assert.Equal(t, mockserver.StatusProgress, s.Payments()[1].Status, "deposits match the new payments alone")
	for n := range 99 { // applications do not run out
		require.NoError(t, s.SaveApplication(mockserver.Application{Token: fmt.Sprint("test_n", n)}))
	}
	require.NoError(t, s.Reset())
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_one_more"}))
}

// TestResetStillHidesTokens: the request log redacts the token of an application that a reset has removed,
// which a client may still send.
func TestResetStillHidesTokens(t *testing.T) {
	t.Parallel()
	const token = "test_removed"
	s := stopped(t)
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: token}))
	require.NoError(t, s.Reset())
	api(t, s, "POST", "/payments", `{"title":"`+token+`"}`)
	requests := s.Requests()
	require.Len(t, requests, 1)
	require.Contains(t, fmt.Sprintf("%+v", requests), "[REDACTED]")
	require.NotContains(t, fmt.Sprintf("%+v", requests), token)
}

// TestResetOneApplication: only the payments, deliveries and products of that application
// are forgotten.
func TestResetOneApplication(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)), func(c *mockserver.Config) {
		c.Applications = append(slices.Clone(hooked), mockserver.Application{Name: "Other", Token: "test_other", WebhookURL: hookURL})
	})
	var kept []string
	for _, app := range s.Applications() {
		sell(t, s, mockserver.Product{Name: "Sword", Price: 5, Application: app.Name})
		var created struct{ PayToken string }
		require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments",
			`{"token":"`+app.Token+`","title":"T","identifier":"i","amount":5}`)), &created))
		kept = append(kept, created.PayToken)
		deposit(t, s, created.PayToken, 5)
		_, err := s.GivePayer(s.Payments()[0].ID, "Kim", 0)
		require.Error(t, err)
	}
	s.Advance(0)
	unpaid := waiting(t, s, "이영희", 500, 0) // of the first application
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", "/reset", `{"application":"Nobody"}`), "application")
	assert.Len(t, s.Payments(), 3, "a reset that is refused forgets nothing")

	control(t, s, 200, "POST", "/reset", `{"application":"Application 1"}`)
	require.Len(t, s.Payments(), 1)
	assert.Equal(t, kept[1], s.Payments()[0].ID)
	assert.Equal(t, kept[1], onlyDelivery(t, s).PaymentID)
	require.Len(t, s.Products(), 1)
	assert.Equal(t, "Other", s.Products()[0].Application)
	assert.Len(t, s.Applications(), 2)
	assert.NotEmpty(t, s.Requests())
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
	_, found := s.Payment(unpaid)
	assert.False(t, found)
	upload(t, s, "입금 500원", "이영희")
	assert.Equal(t, mockserver.ReasonNoMatch, s.Unmatched()[0].Reason, "a forgotten payment takes no deposit")
	a, ok := s.JumpToNextAttempt()
	assert.True(t, ok)
	assert.Equal(t, kept[1], a.PaymentID)
}
