package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// watchShifts takes down which of the page's parts move by themselves from now on, and how far.
const watchShifts = `window.shifts = []; new PerformanceObserver((list) => {
	const at = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
	for (const e of list.getEntries()) window.shifts.push(e.value.toFixed(4) + ": " + e.sources.map((s) =>
		(s.node?.outerHTML ?? s.node?.textContent ?? "").trim().slice(0, 80) + " from " + at(s.previousRect) + " to " + at(s.currentRect)).join("; "));
}).observe({ type: "layout-shift" }); true`

// drawn waits until the page is, with its fonts; shifts are those that there were by then.
const (
	drawn  = `document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`
	shifts = drawn + `.then(() => window.shifts)`
)

// printed is what the page shows on paper: from now on its print style counts on the screen.
const printed = `(() => {
	for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
		if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
	return document.body.innerText;
})()`

// TestCustomer goes from the catalogue to the receipt, in both languages, on a wide
// screen and on a phone, and looks at each page on the way.
func TestCustomer(t *testing.T) {
	t.Parallel()
	browser := chrome.Start(t)
	for _, c := range []struct {
		lang, waiting, paid string
		width, height       int64
	}{
		{"en", "Waiting for your deposit", "Paid. Thank you!", 1000, 800},
		{"ko", "입금을 기다립니다", "결제되었습니다. 고맙습니다!", 360, 740},
	} {
		t.Run(c.lang, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			page := browser.Open(t, chrome.Options{Lang: c.lang, Width: c.width, Height: c.height})
			page.Go(w.url)
			look := func(name string) {
				t.Helper()
				page.Audit()
				picture(page, "webshop-"+name+"-"+c.lang)
			}
			look("1-catalogue")
			page.Submit(".card:nth-child(1) button")
			page.Go(w.url)
			page.Submit(".card:nth-child(3) button")
			look("2-cart")
			page.Fill("#contact", testContact)
			page.Submit("#place")
			page.WaitText(".big", c.waiting)
			look("3-waiting")
			seller := map[string]string{"en": "Dal Goods", "ko": "달 가게"}[c.lang]
			var link string
			page.Eval(`document.querySelector("#pay[target=_blank]").href`, &link) // this page stays open
			payToken := strings.TrimPrefix(link, w.mock.CheckoutURL()+"/")
			checkout := browser.Open(t, chrome.Options{Lang: c.lang})
			checkout.Go(link)
			checkout.WaitText("h1", seller)
			checkout.Fill("#payer", "김민수")
			checkout.Submit("#payer-form button")
			page.Go(w.url + "/orders")
			look("4-orders")
			page.Submit(".list a")
			page.WaitText(".big", c.waiting)
			var ok bool
			page.Eval(drawn, &ok)
			page.Eval(watchShifts, &ok)
			_, err := w.mock.SendNotification("com.kbstar.kbbank", "김민수", 37_000)
			require.NoError(t, err)
			page.WaitText(".big", c.paid)
			var moved []string
			page.Eval(shifts, &moved)
			require.Empty(t, moved, "nothing moves when the deposit arrives")
			look("5-paid")
			page.Submit("#receipt")
			page.WaitText("dd", "37,000")
			look("6-receipt")
			require.Contains(t, page.Text("#paper"), payToken)
			var paper string
			page.Eval(printed, &paper)
			require.Contains(t, paper, seller, "the receipt names who has sold")
			require.NotContains(t, paper, "English", "the page's own parts are not printed")
		})
	}
}

// TestWithoutScripts: the page loads itself again until the deposit is there.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	w := start(t)
	page := chrome.Start(t).Open(t, chrome.Options{NoScript: true, Width: 360})
	page.Go(w.url)
	page.Submit(".card:nth-child(2) button")
	page.Fill("#contact", testContact)
	page.Submit("#place")
	page.WaitText(".big", "Waiting for your deposit")
	w.pay(w.mock.Payments()[0].ID, 0)
	page.WaitText(".big", "Paid. Thank you!")
}

// TestCrowded: a page that finds no place to listen shows the deposit all the same.
func TestCrowded(t *testing.T) {
	t.Parallel()
	w := start(t)
	id, payToken := w.visitor().order("cup", 1)
	for range maxPerOrder {
		require.True(t, w.shop.live.enter(id))
	}
	page := chrome.Start(t).Open(t, chrome.Options{Statuses: []int{503}})
	page.Go(w.url + "/orders/" + id)
	page.WaitText(".big", "Waiting for your deposit")
	w.pay(payToken, 0)
	page.WaitText(".big", "Paid. Thank you!")
}
