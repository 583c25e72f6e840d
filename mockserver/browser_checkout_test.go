package mockserver_test

import (
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// customerWords are what a customer reads on the way, in one language.
type customerWords struct {
	lang, ask, transfer, arrived, complete, amount, missing, bank, holder string
}

var customers = []customerWords{
	{"ko-KR,ko;q=0.9", "입금자 정보를 입력해 주세요", "아래 계좌로 입금해 주세요", "입금이 확인되었습니다", "결제가 완료되었습니다", "10,000원", "입금자명을 입력해 주세요.", "모의 은행", "모의 서비스"},
	{"en-US,en;q=0.9", "Tell us who will pay", "Pay into the account below", "Your deposit has arrived", "The payment is complete", "₩10,000", "Enter the name of the payer.", "Mock Bank", "Mock Service"},
}

// TestBrowserCheckout: a customer pays, and the page follows by itself.
func TestBrowserCheckout(t *testing.T) {
	t.Parallel()
	browser := browser(t)
	for _, words := range customers {
		t.Run(words.lang[:2], func(t *testing.T) {
			s := mockserver.RunT(t)
			id := create(t, s, `"amount":10000,"items":[{"name":"강철 검","price":4000,"count":2},{"name":"Potion","price":2000}]`)
			page := browser.Open(t, chrome.Options{Lang: words.lang, Width: 360, Height: 740, Statuses: []int{422}})
			page.Go(s.CheckoutURL() + "/" + id)
			page.WaitText("#status", words.ask)
			assert.Equal(t, words.lang[:2], evalText(page, `document.documentElement.lang`))
			shoot(page, "checkout-"+words.lang[:2]+"-1-payer")

			page.Submit("#payer-form button")
			assert.Contains(t, page.Text("#payer-error"), words.missing)
			assert.Equal(t, "payer", evalText(page, `document.activeElement.id`), "the focus is where the error is")
			assert.Contains(t, evalText(page, `document.activeElement.getAttribute("aria-describedby")`), "payer-error")
			shoot(page, "checkout-"+words.lang[:2]+"-2-error")

			page.Fill("#payer", "김민수")
			page.Press("\r")
			page.WaitText("#status", words.transfer)
			shoot(page, "checkout-"+words.lang[:2]+"-3-transfer")
			wantWhole(t, page)
			assert.Equal(t, s.Account().Number, page.Text("#account-number"))
			assert.Equal(t, words.amount, page.Text("#account-amount"))
			assert.Contains(t, page.Text("#transfer"), words.bank)
			assert.Contains(t, page.Text("#transfer"), words.holder)
			assert.Equal(t, "김민수", page.Text("#payer-name"))

			sent, err := s.SendNotification("com.kbstar.kbbank", "김민수", 10000)
			require.NoError(t, err)
			require.Equal(t, mockserver.ResultMatched, sent.Result)
			page.WaitText("#status", words.arrived)
			shoot(page, "checkout-"+words.lang[:2]+"-4-arrived")
			confirm(t, s, id)
			page.WaitText("#status", words.complete)
			assert.Contains(t, page.Text("#receipt"), words.amount)
			shoot(page, "checkout-"+words.lang[:2]+"-5-complete")
			wantWhole(t, page)
		})
	}
}

// shoot audits a page and keeps a picture of it.
func shoot(page *chrome.Page, name string) {
	page.Audit()
	picture(page, name)
}

// wantWhole checks that nothing about the payment is cut off or runs over the edge of its
// sheet, on a phone too.
func wantWhole(t *testing.T, page *chrome.Page) {
	t.Helper()
	var cut []string
	page.Eval(`[...document.querySelectorAll(".sheet")].flatMap((sheet) => {
		const edge = sheet.getBoundingClientRect().right - parseFloat(getComputedStyle(sheet).paddingRight) + 0.5;
		return [...sheet.querySelectorAll("th, td, dd, time")].filter((e) => e.getBoundingClientRect().right > edge).map((e) => e.textContent.trim());
	})`, &cut)
	assert.Empty(t, cut, "cut off on %s", page.URL())
}

// picture takes a screenshot if DEPOSITPAY_TEST_SCREENS is set: screenshots take longer than
// the tests.
func picture(page *chrome.Page, name string) {
	if os.Getenv("DEPOSITPAY_TEST_SCREENS") != "" {
		page.Screenshot(name)
	}
}

func evalText(page *chrome.Page, expression string) string {
	var text string
	page.Eval(expression, &text)
	return text
}

func query(name, value string) string { return url.Values{name: {value}}.Encode() }

// TestBrowserCheckoutWithoutScripts: a customer without scripts pays, and sees the page
// follow by reloading.
func TestBrowserCheckoutWithoutScripts(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	page := browser(t).Open(t, chrome.Options{Width: 360, Height: 740, NoScript: true, Dark: true, Statuses: []int{422}})
	id := create(t, s, "")
	page.Go(s.CheckoutURL() + "/" + id)
	assert.False(t, page.Has("meta[http-equiv=refresh]"), "a page with something to fill in is left alone")
	page.Fill("#payer", "Kim")
	page.Fill("#amount", "many")
	page.Submit("#payer-form button")
	assert.Contains(t, page.Text("#amount-error"), "Enter a whole number")
	assert.Equal(t, "amount", evalText(page, `document.activeElement.id`))
	shoot(page, "checkout-noscript-1-error")
	page.Fill("#amount", "3,000원")
	page.Submit("#payer-form button")
	page.WaitText("#transfer", "₩3,000")
	shoot(page, "checkout-noscript-2-transfer")
	deposit(t, s, id, 3000)
	page.WaitText("#status", "Your deposit has arrived")
	confirm(t, s, id)
	page.WaitText("#status", "The payment is complete")
	shoot(page, "checkout-noscript-3-complete")
}

// TestBrowserCheckoutKeyboard: all is done from the keyboard.
func TestBrowserCheckoutKeyboard(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	page := browser(t).Open(t, chrome.Options{})
	page.Go(s.CheckoutURL() + "/" + create(t, s, ""))
	tabTo(t, page, "payer")
	var outline string
	page.Eval(`getComputedStyle(document.activeElement).outlineStyle`, &outline)
	assert.Equal(t, "solid", outline, "the focus can be seen")
	page.Press("Kim")
	page.Press("\t")
	assert.Equal(t, "amount", evalText(page, `document.activeElement.id`))
	page.Press("2500")
	page.Press("\r")
	page.WaitText("#account-amount", "₩2,500")
	picture(page, "checkout-wide")
}

// tabTo presses the tab key until an element has the focus.
func tabTo(t *testing.T, page *chrome.Page, id string) {
	t.Helper()
	for range 30 {
		page.Press("\t")
		if evalText(page, `document.activeElement.id`) == id {
			return
		}
	}
	require.Fail(t, "the tab key never gets to "+id)
}

// TestBrowserCheckoutLeavesAlone: what happens elsewhere changes neither what a customer is
// typing nor where; what happens to the payment does.
func TestBrowserCheckoutLeavesAlone(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	page := browser(t).Open(t, chrome.Options{Statuses: []int{422}})
	id := create(t, s, `"amount":700`)
	page.Go(s.CheckoutURL() + "/" + id)
	page.Submit("#payer-form button")
	page.Fill("#payer", "Ki")
	before := len(page.Requests())
	create(t, s, "")
	page.Wait(`performance.getEntriesByType("resource").filter((e) => e.initiatorType === "fetch" && e.responseEnd > 0).length >= 2`)
	assert.Greater(t, len(page.Requests()), before)
	assert.Equal(t, "Ki", evalText(page, `document.activeElement.value`))
	assert.Equal(t, "payer", evalText(page, `document.activeElement.id`))
	assert.Contains(t, page.Text("#payer-error"), "Enter the name", "nor what was wrong")
	var marked bool
	page.Eval(`document.querySelector("#order").mark = true`, &marked)
	deposit(t, s, id, 700)
	page.WaitText("#status", "Your deposit has arrived")
	assert.False(t, page.Has("#payer-form"), "nobody is asked to pay again")
	page.Eval(`document.querySelector("#order").mark === true`, &marked)
	assert.True(t, marked, "an unchanged element is not replaced")
}
