package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// TestCustomer goes from the shop to the paid order, in both languages, on a wide screen and on a phone, and
// once without scripts, when the page reloads itself.
func TestCustomer(t *testing.T) {
	t.Parallel()
	browser := chrome.Start(t)
	for _, c := range []struct {
		name     string
		lang     lang
		width    int64
		noScript bool
	}{{"wide", english, 1000, false}, {"phone", korean, 360, false}, {"without-scripts", english, 360, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			page := browser.Open(t, chrome.Options{
				Lang: c.lang.String(), Width: c.width, NoScript: c.noScript, Dark: c.lang == english,
				Statuses: []int{http.StatusBadRequest},
			})
			page.Go(w.url)
			look := func(name string) {
				t.Helper()
				page.Audit()
				picture(page, "webshop-"+name+"-"+c.name)
			}
			look("1-shop")
			page.Submit("#place")
			page.WaitText("[role=alert]", text(c.lang, "order.empty"))
			look("2-wrong")
			page.Fill("[name=count-cup]", "1")
			page.Fill("[name=count-tea]", "1")
			page.Submit("#place")
			page.WaitText(".big", text(c.lang, "waiting"))
			look("3-waiting")
			var link string
			page.Eval(`document.querySelector("#pay[target=_blank]").href`, &link)
			require.True(t, strings.HasPrefix(link, w.mock.CheckoutURL()))
			checkout := browser.Open(t, chrome.Options{Lang: c.lang.String()})
			checkout.Go(link)
			checkout.WaitText("h1", text(c.lang, "shop"))
			checkout.Fill("#payer", "김민수")
			checkout.Submit("#payer-form button")
			_, err := w.mock.SendNotification("com.kbstar.kbbank", "김민수", 37_000)
			require.NoError(t, err)
			page.WaitText(".big", text(c.lang, "paid"))
			look("4-paid")
		})
	}
}

// TestOffice: a shopkeeper with a phone approves a payment in review, and retries one that was not booked.
func TestOffice(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.customer()
	first, payFirst := v.order("tea", 1)
	w.pay(payFirst, 0)
	v.shows("/orders/"+first, "Paid. Thank you!")
	lost, payLost := v.order("cup", 1)
	w.alter(`UPDATE orders SET id = 'lost' WHERE id = $1`, lost)
	w.pay(payLost, 0)
	id, payToken := v.order("notebook", 2)
	w.pay(payToken, 23_000)
	w.keeper().shows("/office", payToken, "there is no order")

	page := chrome.Start(t).Open(t, chrome.Options{Width: 360, Height: 740})
	page.Go(strings.Replace(w.url, "http://", "http://Mina:"+testPassword+"@", 1) + "/office")
	page.WaitText(".held h3", "underpaid")
	page.Audit()
	picture(page, "webshop-office")
	page.Fill("#reason-"+payToken, "단골손님")
	page.Submit(".held button[value=approve]")
	page.WaitText("main", "Nothing is waiting.")
	v.shows("/orders/"+id, "Paid. Thank you!")
	w.alter(`UPDATE orders SET id = $1 WHERE id = 'lost'`, lost)
	v.shows("/orders/"+lost, "We are checking your order", "Your money is here and safe.")
	page.Fill("#reason-"+payLost, "the order is back")
	page.Submit(".held button[value=retry]")
	v.shows("/orders/"+lost, "Paid. Thank you!")
	require.Equal(t, 499, w.left("cup"))
	page.Submit(".foot a")
	page.WaitText("#deposits", id[:8])
	page.WaitText("main", "Every payment is booked.")
	page.Audit()
}
