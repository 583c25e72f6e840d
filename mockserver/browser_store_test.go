package mockserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestBrowserStore: a player buys, with and without scripts, and lands on the checkout
// page of that payment.
func TestBrowserStore(t *testing.T) {
	t.Parallel()
	browser := browser(t)
	for _, c := range []struct {
		name, lang, title, choose string
		noScript, dark            bool
	}{
		{"ko", "ko", "게임 상점", "먼저 구매할 이용자를 선택하세요.", false, true},
		{"en-noscript", "en", "Game store", "Choose who you are first", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mockserver.RunT(t)
			page := browser.Open(t, chrome.Options{Lang: c.lang, Width: 360, Height: 740, NoScript: c.noScript, Dark: c.dark, Statuses: []int{422}})
			page.Go(s.URL() + "/store/")
			assert.Equal(t, c.title, page.Text("h1"))
			shoot(page, "store-"+c.name+"-1-empty")

			sword := sell(t, s, mockserver.Product{Name: "강철 검", Price: 12000})
			sell(t, s, mockserver.Product{Name: "Health potion, large", Price: 500, Icon: "https://shop.example/potion.png"})
			if c.noScript {
				page.Go(s.URL() + "/store/")
			}
			page.WaitText(".products", "강철 검") // live, where there are scripts
			page.Submit("#buy-" + sword.ID)
			assert.Contains(t, page.Text("#new-name-error"), c.choose)
			page.Fill("#new-name", "Player One")
			page.Fill("#new-id", "6f1c8e0e-aaaa-4bbb-8ccc-000000000001")
			shoot(page, "store-"+c.name+"-2-user")
			page.Submit("#new-user-form button")
			assert.Equal(t, "6f1c8e0e-aaaa-4bbb-8ccc-000000000001", page.Text("#user-id"))

			_, err := s.SaveStoreUser(mockserver.StoreUser{ID: "u2", Name: "민지"})
			require.NoError(t, err)
			page.Go(s.URL() + "/store/1")
			page.Submit("#buy-" + sword.ID)
			if !c.noScript { // the new product appears, and the error stays readable
				sell(t, s, mockserver.Product{Name: "방패", Price: 700})
				page.WaitText(".products", "방패")
			}
			assert.Contains(t, page.Text("#user-error"), c.choose)
			page.Choose("#user", "u2")
			page.Submit("#who-form button")
			assert.Equal(t, "u2", page.Text("#user-id"))
			shoot(page, "store-"+c.name+"-3-products")
			page.Submit("#buy-" + sword.ID)
			list := s.Payments()
			require.Len(t, list, 1)
			assert.Equal(t, s.CheckoutURL()+"/"+list[0].ID, page.URL())
			assert.Contains(t, page.Text("#order"), "u2")
			assert.Equal(t, "강철 검", page.Text("h1"))
			shoot(page, "store-"+c.name+"-4-checkout")
		})
	}
}

// TestBrowserStoreHostile: names are shown as text, whatever people type.
func TestBrowserStoreHostile(t *testing.T) {
	t.Parallel()
	browser := browser(t)
	s := mockserver.RunT(t, mockserver.Config{Applications: []mockserver.Application{{Name: `<img src=x onerror=alert(1)>`}}})
	for _, text := range hostile {
		runes := []rune(text)
		sell(t, s, mockserver.Product{Name: string(runes[:min(100, len(runes))]), Price: 1<<63 - 1, Icon: `https://shop.example/"><script>alert(1)</script>`})
		_, err := s.SaveStoreUser(mockserver.StoreUser{ID: string(runes[:min(100, len(runes))]), Name: string(runes[:min(40, len(runes))])})
		require.NoError(t, err)
	}
	page := browser.Open(t, chrome.Options{Width: 360, Height: 740})
	for _, user := range s.StoreUsers() {
		page.Go(s.URL() + "/store/1?" + query("user", user.ID))
		assert.Equal(t, user.ID, evalText(page, `document.querySelector("#user-id").textContent`))
		assert.Equal(t, user.ID, evalText(page, `document.querySelector("#user").value`))
		page.Audit()
	}
	wantHarmless(t, page)
	for i, p := range s.Products() {
		assert.Equal(t, p.Name, evalText(page, `document.querySelector("#name-`+s.Products()[i].ID+`").textContent`))
	}
	picture(page, "store-hostile")
}
