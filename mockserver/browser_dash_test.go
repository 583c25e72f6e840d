package mockserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// merchant is a webhook receiver over a socket that answers as it is told.
func merchant(t *testing.T) (address string, answer *atomic.Int32) {
	answer = new(atomic.Int32)
	answer.Store(http.StatusInternalServerError)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(answer.Load()))
	}))
	t.Cleanup(server.Close)
	return server.URL, answer
}

// TestBrowserDash: an operator goes the whole way by hand, from a new product to a webhook
// that is delivered at the second attempt, while another page follows by itself.
func TestBrowserDash(t *testing.T) {
	t.Parallel()
	hook, answer := merchant(t)
	s := dashServer(t)
	browser := chrome.Start(t)
	page := browser.Open(t, chrome.Options{Width: 1200, Height: 900, Statuses: []int{422}})
	page.Go(s.URL() + "/_mock/")
	page.WaitText("main", "There are no payments yet")
	shoot(page, "dash-en-01-empty")

	// The webhook URI of the application; the first one is refused.
	page.Submit(`.sections a[href="/_mock/ui/applications"]`)
	assert.NotContains(t, page.Text("main"), s.Token())
	page.Submit(`a[href="?edit=1"]`)
	page.Fill("#application-1-webhook_url", "http://merchant.example/hook")
	page.Submit(`button[value=application]`)
	assert.Contains(t, page.Text("#application-1-webhook_url-error"), "Only addresses of this machine")
	shoot(page, "dash-en-02-refused")
	page.Fill("#application-1-webhook_url", hook+"/hook")
	page.Submit(`button[value=application]`)
	page.WaitText(".notice", "The application is saved")
	page.Click("#token-1 summary")
	page.WaitText("#tok-1", s.Token())
	shoot(page, "dash-en-03-applications")

	// A product and a user of the store, who buys it.
	page.Submit(`.sections a[href="/_mock/ui/store"]`)
	page.Fill("#product-name", "강철 검")
	page.Fill("#product-price", "10,000")
	page.Submit(`button[value=product]`)
	product := s.Products()[0]
	page.WaitText("#pid-"+product.ID, product.ID)
	shoot(page, "dash-en-04-store")
	page.Submit(`.filter a[href="/_mock/ui/users"]`)
	page.Fill("#user-name", "민수")
	page.Submit(`button[value=user]`)
	page.WaitText("main", s.StoreUsers()[0].ID)
	shoot(page, "dash-en-05-users")
	page.Submit(`.filter a[href="/store/"]`)
	if page.Has("#who-form select") {
		page.Choose("#who-form select", s.StoreUsers()[0].ID)
		page.Submit("#who-form button")
	}
	page.Submit("#buy-" + product.ID)
	bought := s.Payments()[0]
	page.Fill("#payer", "김민수")
	page.Submit("#payer-form button")

	// Another page is open meanwhile; a mark tells that it is never loaded anew.
	watcher := browser.Open(t, chrome.Options{Width: 1200, Height: 900})
	watcher.Go(s.URL() + "/_mock/ui/payments/" + bought.ID)
	watcher.WaitText("main", "WAITING")
	var marked bool
	watcher.Eval("window.mark = true", &marked)
	watcher.Fill("#pay-payer", "typed")
	_, err := s.GivePayer(bought.ID, "김민수", 0)
	require.NoError(t, err)
	watcher.Wait(`document.querySelectorAll(".timeline li").length === 3`)
	assert.Equal(t, "typed", evalText(watcher, `document.querySelector("#pay-payer").value`), "what is typed stays")

	// The bank's notification.
	page.Go(s.URL() + "/_mock/ui/phone")
	page.WaitText(".rows", "김민수")
	shoot(page, "dash-en-06-phone")
	page.Choose("#notify-package", "com.kakaobank.channel")
	page.Fill("#notify-payer", "김민수")
	page.Fill("#notify-amount", "10000")
	page.Submit("button[value=notify]")
	page.WaitText(".notice", "Matched")
	shoot(page, "dash-en-07-matched")

	// The webhook fails, then is delivered.
	watcher.WaitText(".attempts", "HTTP 500")
	watcher.WaitText(".timeline", "only 200 counts")
	shoot(watcher, "dash-en-08-payment-failed")
	page.Submit(`.sections a[href="/_mock/ui/deliveries"]`)
	page.WaitText(".next", "in 5s")
	page.Click(".attempts summary")
	page.WaitText("pre", bought.ID)
	shoot(page, "dash-en-09-deliveries")
	answer.Store(http.StatusOK)
	page.Submit("button[value=jump]")
	page.WaitText(".notice", "the attempt was delivered")
	page.WaitText(".badge", "delivered")
	shoot(page, "dash-en-10-delivered")
	watcher.WaitText(".badge", "delivered")
	confirm(t, s, bought.ID)
	watcher.WaitText(".timeline", "Confirmed")
	watcher.WaitText(".badge", "COMPLETE")
	watcher.Eval("window.mark === true", &marked)
	assert.True(t, marked, "the page was loaded anew")
	assert.False(t, watcher.Has("#form-pay"), "what cannot be done any more goes away")
	shoot(watcher, "dash-en-11-complete")
}

// dashBusy is a server on which much has happened.
func dashBusy(t *testing.T) (s *mockserver.Server, paths []string) {
	t.Helper()
	hook, _ := merchant(t)
	s = dashServer(t)
	require.NoError(t, s.SetWebhook(s.Token(), hook))
	require.NoError(t, s.SaveApplication(mockserver.Application{Name: "둘째 게임", Token: "test_second", GameField: "brand_product"}))
	sword, err := s.SaveProduct(mockserver.Product{Name: "강철 검", Price: 10000})
	require.NoError(t, err)
	_, err = s.SaveProduct(mockserver.Product{Name: "Health potion", Price: 3500, Application: "둘째 게임"})
	require.NoError(t, err)
	_, err = s.SaveStoreUser(mockserver.StoreUser{Name: "민수", ID: "alex-77"})
	require.NoError(t, err)
	bought, err := s.Buy(sword.ID, "alex-77")
	require.NoError(t, err)
	coat := create(t, s, `"amount":12000,"items":[{"name":"겨울 코트","price":10000},{"name":"배송비","price":1000,"count":2}]`)
	create(t, s, "")
	for _, id := range []string{bought.ID, coat} {
		_, err = s.GivePayer(id, "김민수", 0)
		require.NoError(t, err)
	}
	for payer, amount := range map[string]int64{"김민수": 9000, "이영희": 77000} {
		_, err = s.SendNotification("viva.republica.toss", payer, amount)
		require.NoError(t, err)
	}
	_, err = s.SendNotification("com.kbstar.kbbank", "김민수", 10000)
	require.NoError(t, err)
	s.JumpToNextAttempt()
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "banks", Kind: "status-before", Status: 503}))
	_, _ = call(t, s, "GET", "/mobile/banks", "")
	api(t, s, "GET", "/callback/rest?token=test_second", "")
	api(t, s, "GET", "/callback/rest?token=test_nobody", "")
	return s, append(append([]string{}, dashPaths...), "/_mock/ui/payments/"+bought.ID, "/_mock/ui/payments/"+coat,
		"/_mock/ui/applications?edit=1", "/_mock/ui/payments?status=COMPLETE")
}

// TestBrowserDashLooks: every page fits a phone, in both languages, light and dark, with
// and without scripts.
func TestBrowserDashLooks(t *testing.T) {
	t.Parallel()
	s, paths := dashBusy(t)
	browser := chrome.Start(t)
	for name, o := range map[string]chrome.Options{
		"ko-phone": {Lang: "ko", Width: 360, Height: 740, NoScript: true},
		"en-dark":  {Width: 1200, Height: 900, Dark: true},
	} {
		page := browser.Open(t, o)
		for i, path := range paths {
			page.Go(s.URL() + path)
			var opened bool
			page.Eval(`(document.querySelectorAll("main details").forEach((d) => { d.open = true; }), true)`, &opened)
			shoot(page, fmt.Sprintf("dash-%s-%02d", name, i))
		}
	}
	page := browser.Open(t, chrome.Options{Width: 360, Height: 740})
	page.Go(s.URL() + "/_mock/ui/clock")
	page.Submit(`.langs a[lang=ko]`)
	page.WaitText("h1", "시계")
	page.Submit(`.sections a[href="/_mock/ui/payments"]`)
	page.WaitText("h1", "결제")
}

// TestBrowserDashRequests: the request log follows the requests, and an open entry stays
// open.
func TestBrowserDashRequests(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	poll(t, s)
	page := chrome.Start(t).Open(t, chrome.Options{})
	page.Go(s.URL() + "/_mock/ui/requests")
	page.Click(".requests summary")
	page.WaitText(".requests details[open] pre", "token=[REDACTED]")
	for n := 2; n < 5; n++ {
		poll(t, s)
		page.Wait(`document.querySelectorAll(".requests > li").length === ` + string(rune('0'+n)))
	}
	page.WaitText(".requests > li:last-child details[open] pre", "token=[REDACTED]")
	assert.False(t, page.Has(".requests > li:first-child details[open]"))
}

// dashHostile is a server whose every text is hostile, as far as the server lets it.
func dashHostile(t *testing.T, text string) (s *mockserver.Server, paths []string) {
	t.Helper()
	short := func(n int) string {
		if r := []rune(text); len(r) > n {
			return string(r[:n])
		}
		return text
	}
	s = dashServer(t, func(c *mockserver.Config) {
		c.WebhookTransport = hook(func(*http.Request, string) (int, error) { return 0, errors.New(text) })
		c.Applications = []mockserver.Application{{Name: short(40), WebhookURL: "http://127.0.0.1:9/" + url.PathEscape(text)}}
	})
	_, err := s.SaveProduct(mockserver.Product{Name: short(100), Icon: "https://shop.example/" + short(600), Price: 5})
	require.NoError(t, err)
	u, err := s.SaveStoreUser(mockserver.StoreUser{Name: short(40), ID: strings.TrimSpace(short(100))})
	require.NoError(t, err)
	_, err = s.Buy(s.Products()[0].ID, u.ID)
	require.NoError(t, err)
	fields, err := json.Marshal(map[string]any{
		"token": s.Token(), "title": text, "identifier": text, "icon": "https://shop.example/" + short(600),
		"items": []map[string]any{{"name": short(2000), "price": 5}},
	})
	require.NoError(t, err)
	var created struct{ PayToken string }
	require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments", string(fields))), &created))
	_, err = s.GivePayer(created.PayToken, short(40), 7)
	require.NoError(t, err)
	dashDo(t, s, "/_mock/ui/phone", "do", "upload", "package", "com.kbstar.kbbank", "title", short(1000), "text", "입금 5원 김철수", "subtitle", short(200))
	dashDo(t, s, "/_mock/ui/phone", "do", "upload", "package", "com.kbstar.kbbank", "title", text)
	_, err = s.Deposit(created.PayToken, mockserver.Deposit{Payer: text, Amount: 7})
	require.NoError(t, err)
	s.Advance(0)
	_, _ = browse(t, s, "GET", "/"+url.PathEscape(short(500))+"?a="+url.QueryEscape(short(500)), nil)
	return s, append(append([]string{}, dashPaths...), "/_mock/ui/payments/"+created.PayToken, "/_mock/ui/store?edit="+s.Products()[0].ID,
		"/_mock/ui/users?edit="+url.QueryEscape(u.ID), "/_mock/ui/applications?edit=1", "/_mock/ui/payments?status="+url.QueryEscape(short(50)))
}

// TestBrowserDashHostile: whatever people type is text, on every page, in the browser too.
func TestBrowserDashHostile(t *testing.T) {
	t.Parallel()
	page := chrome.Start(t).Open(t, chrome.Options{Width: 360, Height: 740})
	for i, text := range hostile {
		s, paths := dashHostile(t, text)
		seen := 0
		for _, path := range paths {
			_, body := browse(t, s, "GET", path, nil)
			if strings.Contains(dashText(t, body), text) {
				seen++
			}
			page.Go(s.URL() + path)
			var clean bool
			page.Eval(`window.hacked === undefined && document.querySelectorAll("main img, main svg, main script").length === 0`, &clean)
			assert.True(t, clean, path)
			page.Audit()
		}
		assert.GreaterOrEqual(t, seen, 2, "the text is to be read on several pages: %.40s", text)
		if i == 0 || i == len(hostile)-1 {
			page.Screenshot(fmt.Sprintf("dash-hostile-%d", i))
		}
	}
}

// TestDashHostileForms: a form with hostile texts that is refused gives them back as text.
func TestDashHostileForms(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	id := create(t, s, "")
	for _, text := range hostile {
		for path, form := range map[string]url.Values{
			"payments/" + id: formOf("do", "payer", "payer", text, "amount", text),
			"phone":          formOf("do", "notify", "package", text, "payer", text, "amount", text),
			"store":          formOf("do", "product", "name", text, "price", text, "icon", text),
			"users":          formOf("do", "user", "name", text+"\x00", "id", text),
			"applications":   formOf("do", "application", "name", text, "token", text, "webhook_url", text, "game_field", text, "dialect_envelope", text),
			"clock":          formOf("do", "advance", "duration", text),
			"faults":         formOf("do", "fault", "operation", text, "kind", text, "delay", text),
			"unmatched":      formOf("do", "assign", "target", text, "other", text),
		} {
			resp, body := browse(t, s, "POST", "/_mock/ui/"+path, form)
			assert.GreaterOrEqual(t, resp.StatusCode, 400, path)
			assert.Less(t, resp.StatusCode, 500, path)
			got := dashText(t, body)
			if path != "applications" && path != "unmatched" && path != "faults" {
				assert.Contains(t, got, strings.TrimSpace(text), path)
			}
		}
	}
	assert.Empty(t, s.Products())
}
