package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
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

// TestBrowserDash: an operator gets from a new product to a webhook that is delivered at the
// second attempt, while another page follows by itself.
func TestBrowserDash(t *testing.T) {
	t.Parallel()
	hook, answer := merchant(t)
	s := dashServer(t)
	browser := browser(t)
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
	page.WaitText(".notice", "The application was saved")
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

	// Another page is open meanwhile; a mark tells that it is never loaded again.
	watcher := browser.Open(t, chrome.Options{Width: 1200, Height: 900})
	watcher.Go(s.URL() + "/_mock/ui/payments/" + bought.ID)
	watcher.WaitText("main", "WAITING")
	var marked bool
	watcher.Eval("window.mark = true", &marked)
	watcher.Fill("#pay-payer", "typed")
	_, err := s.GivePayer(bought.ID, "김민수", 0)
	require.NoError(t, err)
	watcher.Wait(`document.querySelectorAll(".timeline li").length === 3`)
	assert.Equal(t, "typed", evalText(watcher, `document.querySelector("#pay-payer").value`), "typed text stays")

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
	assert.True(t, marked, "the page was loaded again")
	assert.False(t, watcher.Has("#form-pay"), "an impossible action disappears")
	shoot(watcher, "dash-en-11-complete")
}

// TestBrowserDashRequests: the request log follows the requests, and an open entry stays
// open.
func TestBrowserDashRequests(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	poll(t, s)
	page := browser(t).Open(t, chrome.Options{})
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
