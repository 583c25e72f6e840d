package mockserver_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDashSpeaksKorean: the server's messages about payments, webhooks and faults are in the
// language of the page.
func TestDashSpeaksKorean(t *testing.T) {
	t.Parallel()
	status := http.StatusTeapot
	s := dashServer(t, withHook(func(*http.Request, string) (int, error) { return status, nil }), func(c *mockserver.Config) { c.Lifetime = 90 * time.Minute })
	expired := create(t, s, "")
	s.Advance(90 * time.Minute)
	id := create(t, s, `"amount":10000`)
	_, err := s.GivePayer(id, "김민수", 0)
	require.NoError(t, err)
	deposit(t, s, id, 9000)
	s.Advance(5 * time.Second)
	status = http.StatusOK
	resend(t, s, id)
	s.Advance(0)
	confirm(t, s, id)
	confirm(t, s, id)
	sword, err := s.SaveProduct(mockserver.Product{Name: "검", Price: 5})
	require.NoError(t, err)
	user, err := s.SaveStoreUser(mockserver.StoreUser{Name: "민수"})
	require.NoError(t, err)
	bought, err := s.Buy(sword.ID, user.ID)
	require.NoError(t, err)
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "webhook", Kind: "drop-after", Nth: 1}))
	deposit(t, s, bought.ID, 5)
	s.Advance(0)
	poll(t, s)
	s.Advance(5 * time.Second)
	for _, kind := range []string{"status-before", "html"} {
		require.NoError(t, s.SetFaults(mockserver.Faults{Rules: []mockserver.Fault{{Operation: "banks", Kind: kind, Status: map[bool]int{true: 503}[kind == "status-before"]}}}))
		_, _ = browse(t, s, "GET", "/mobile/banks", nil)
	}
	said := regexp.MustCompile(`(?s)</time></span></div><div><bdi class="user">(.*?)</bdi>|<p class="bad-text"><bdi class="user">(.*?)</bdi>|<span class="badge warn">(장애.*?|fault.*?)</span>`)
	want := map[string]int{"payments/" + expired: 2, "payments/" + id: 10, "payments/" + bought.ID: 6, "requests": 2}
	for path, least := range want {
		_, body := browse(t, s, "GET", "/_mock/ui/"+path, nil, "Accept-Language", "ko")
		found := said.FindAllStringSubmatch(body, -1)
		assert.GreaterOrEqual(t, len(found), least, "%s: %v", path, found)
		for _, m := range found {
			words := strings.TrimPrefix(strings.ReplaceAll(m[1]+m[2]+m[3], "김민수", ""), "장애: ")
			assert.Regexp(t, hangul, words, path)
		}
	}
	for _, c := range [][3]string{
		{"GET", "payments/nobody", ""},
		{"POST", "deliveries", "do=resend&target=nobody"},
		{"POST", "payments/" + expired, "do=resend"},
		{"POST", "faults", "do=fault&operation=next&kind=duplicate"},
		{"POST", "faults", "do=fault&operation=next&kind=drip&delay=5h"},
		{"POST", "faults", "do=chance&rate=2"},
		{"POST", "faults", "do=chance&rate=0.5&operations=next&kinds=duplicate"},
		{"POST", "faults", "do=chance&rate=0.5&seed=-1"},
		{"POST", "faults", "do=fault-remove&target=7&rule=x"},
		{"POST", "unmatched", "do=dismiss&target=nobody"},
		{"POST", "unmatched", "do=assign&target=nobody&other=" + id},
		{"POST", "store", "do=product-delete&target=nobody"},
		{"POST", "applications", "do=application&target=99"},
	} {
		form, err := url.ParseQuery(c[2])
		require.NoError(t, err)
		resp, body := browse(t, s, c[0], "/_mock/ui/"+c[1], form, "Accept-Language", "ko")
		assert.GreaterOrEqual(t, resp.StatusCode, 400, c)
		found := regexp.MustCompile(`(?s)</strong>(.*?)</p>|</h1>\s*<p>(.*?)</p>`).FindStringSubmatch(body)
		require.NotNil(t, found, "%v: %s", c, body)
		assert.Regexp(t, hangul, found[1]+found[2], c)
	}
}

// TestCheckoutAmountDiffers: a customer who paid another amount than was due sees it.
func TestCheckoutAmountDiffers(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	for _, c := range []struct {
		fields          string
		paid            int64
		korean, english string
	}{
		{`"amount":8000`, 7000, "결제 금액보다 1,000원 적게 입금되었습니다", "You paid ₩1,000 less"},
		{`"amount":8000`, 9500, "결제 금액보다 1,500원 많이 입금되었습니다", "You paid ₩1,500 more"},
		{`"amount":8000`, 8000, "", ""},
		{"", 8000, "", ""},
	} {
		id := create(t, s, c.fields)
		deposit(t, s, id, c.paid)
		for range 2 {
			_, ko := browse(t, s, "GET", "/pay/"+id, nil, "Accept-Language", "ko")
			_, en := browse(t, s, "GET", "/pay/"+id, nil)
			assert.Equal(t, c.korean != "", strings.Contains(ko, `id="amount-differs"`), "%+v", c)
			assert.Contains(t, ko, c.korean)
			assert.Contains(t, en, c.english)
			assert.Equal(t, c.fields != "", strings.Contains(en, "Amount to pay"), "nobody is asked for an amount any more")
			confirm(t, s, id) // and so it is when the payment is complete
		}
	}
	voucher := create(t, s, "")
	_, err := s.Deposit(voucher, mockserver.Deposit{Failed: true})
	require.NoError(t, err)
	_, body := browse(t, s, "GET", "/_mock/ui/payments", nil)
	assert.Contains(t, body, `<div class="amount">₩0</div>`, "nothing was paid, which is an amount")
}

// TestDefaultNamesAreInTheLanguageOfThePage: default names are translated for customers;
// configured names are not.
func TestDefaultNamesAreInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, `"amount":5`)
	_, err := s.GivePayer(id, "Kim", 0)
	require.NoError(t, err)
	page := func(s *mockserver.Server, path, lang string) string {
		_, body := browse(t, s, "GET", path, nil, "Accept-Language", lang)
		return body
	}
	for _, path := range []string{"/pay/" + id, "/store/1"} {
		assert.Contains(t, page(s, path, "ko"), "상점 1", path)
		assert.NotRegexp(t, "Mock|Application", page(s, path, "ko"), path)
		assert.Contains(t, page(s, path, "en"), "Application 1", path)
		assert.NotRegexp(t, hangul, strings.ReplaceAll(page(s, path, "en"), "한국어", ""), path)
	}
	assert.Regexp(t, "(?s)모의 은행.*모의 서비스", page(s, "/pay/"+id, "ko"))
	assert.Regexp(t, "(?s)Mock Bank.*Mock Service", page(s, "/pay/"+id, "en"))

	s = mockserver.RunT(t, mockserver.Config{
		Applications: []mockserver.Application{{Name: "Application 9 of mine"}},
		Account:      mockserver.Account{Bank: "우리은행", Holder: "Mock Service Ltd"},
	})
	id = create(t, s, `"amount":5`)
	_, err = s.GivePayer(id, "Kim", 0)
	require.NoError(t, err)
	for _, lang := range []string{"en", "ko"} {
		assert.Regexp(t, "(?s)Application 9 of mine.*우리은행.*Mock Service Ltd", page(s, "/pay/"+id, lang))
	}
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_2"}))
	assert.Contains(t, page(s, "/store/", "ko"), "상점 2", "in the list of stores")
}
