package mockserver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

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
	browser := browser(t)
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
