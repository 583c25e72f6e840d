package mockserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// wantHarmless checks that no hostile text became markup. That no dialog opened, no error was
// thrown and no other host was asked, the page checks itself.
func wantHarmless(t *testing.T, page *chrome.Page) {
	t.Helper()
	var counts []int
	page.Eval(`["script", "svg", "img", "iframe", "object", "[onerror], [onload]", "a[href^=javascript]"].map((s) => document.querySelectorAll(s).length)`, &counts)
	assert.Equal(t, []int{1, 0, 0, 0, 0, 0, 0}, counts)
	var hacked bool
	page.Eval(`"hacked" in window`, &hacked)
	assert.False(t, hacked)
}

// TestBrowserCheckoutHostile: titles, items, names and ids are text, whatever they hold, at
// every stage; long texts are folded and can still be read.
func TestBrowserCheckoutHostile(t *testing.T) {
	t.Parallel()
	browser := browser(t)
	s := mockserver.RunT(t, mockserver.Config{
		Applications: []mockserver.Application{{Name: `"><script>alert(1)</script>`}},
		Account:      mockserver.Account{Bank: `<script>alert(1)</script>`, Number: `" onload=alert(1)`, Holder: "\u202e<b>évil"},
	})
	page := browser.Open(t, chrome.Options{Width: 360, Height: 740, Statuses: []int{422}})
	for i, text := range hostile {
		body, err := json.Marshal(map[string]any{
			"token": s.Token(), "title": text, "identifier": text, "icon": "https://shop.example/" + text,
			"items": []map[string]any{{"name": text, "price": int64(1<<62 - 1), "count": int64(1<<62 - 1), "icon": "https://shop.example/" + text}},
		})
		require.NoError(t, err)
		if len(body) > 60<<10 { // three texts fit into the 64 KiB of a creation
			body, err = json.Marshal(map[string]any{"token": s.Token(), "title": text, "identifier": "x"})
			require.NoError(t, err)
		}
		var created struct{ PayToken string }
		require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments", string(body))), &created))
		page.Go(s.CheckoutURL() + "/" + created.PayToken)
		page.Audit()
		wantHarmless(t, page)
		if !strings.HasPrefix(text, "가") && !strings.HasPrefix(text, "W") {
			assert.Equal(t, text, evalText(page, `document.querySelector("h1").textContent`))
		} else {
			assert.Equal(t, text, evalText(page, `document.querySelector(".head .whole").textContent`), "the whole text can be reached")
			var height float64
			page.Eval(`(document.querySelectorAll("details").forEach((d) => { d.open = true; }), document.querySelector(".head").offsetHeight)`, &height)
			assert.Less(t, height, 700.0, "a long text scrolls in a box of its own")
			page.Audit()
		}
		payer := string([]rune(text)[:min(40, len([]rune(text)))])
		page.Fill("#payer", text)
		page.Fill("#amount", text)
		page.Submit("#payer-form button")
		assert.Equal(t, text, evalText(page, `document.querySelector("#amount").value`))
		wantHarmless(t, page)
		page.Fill("#payer", payer)
		page.Fill("#amount", "9223372036854775807")
		page.Submit("#payer-form button")
		assert.Equal(t, strings.TrimSpace(payer), evalText(page, `document.querySelector("#payer-name").textContent`))
		page.Audit()
		wantHarmless(t, page)
		if i == 0 {
			picture(page, "checkout-hostile")
		}
		_, err = s.Deposit(created.PayToken, mockserver.Deposit{Payer: text})
		require.NoError(t, err)
		page.Wait(`document.querySelector("#receipt")`)
		if len([]rune(text)) > 200 {
			assert.Equal(t, text, evalText(page, `document.querySelector("#receipt .long .whole").textContent`), "folded, and whole")
		}
		page.Audit()
		wantHarmless(t, page)
		if i == len(hostile)-1 {
			picture(page, "checkout-hostile-long")
		}
	}
}
