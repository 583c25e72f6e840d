package mockserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// cut is the beginning of a text, as long as a field may be.
func cut(text string, longest int) string {
	runes := []rune(text)
	return string(runes[:min(longest, len(runes))])
}

// dashHostile is a server on which every text is hostile, as far as the server lets it:
// each of them is the name of an application, with a store and a payment of its own.
func dashHostile(t *testing.T) (s *mockserver.Server, paths []string) {
	t.Helper()
	s = dashServer(t, func(c *mockserver.Config) {
		c.WebhookTransport = hook(func(r *http.Request, _ string) (int, error) { return 0, errors.New(r.URL.Path[1:]) })
		for i, text := range hostile {
			c.Applications = append(c.Applications, mockserver.Application{
				Token: fmt.Sprint("test_hostile_", i), Name: cut(text, 40), WebhookURL: "http://127.0.0.1:9/" + url.PathEscape(text),
			})
		}
	})
	paths = slices.Clone(dashPaths)
	for i, text := range hostile {
		paths = append(paths, fmt.Sprint("/_mock/ui/applications?edit=", i+1))
		paths = append(paths, hostileShop(t, s, s.Applications()[i], text)...)
		paths = append(paths, hostilePayment(t, s, s.Applications()[i], text)...)
	}
	return s, paths
}

// hostileShop sells one product to one user. It returns the pages that show no other text.
func hostileShop(t *testing.T, s *mockserver.Server, app mockserver.Application, text string) []string {
	t.Helper()
	p, err := s.SaveProduct(mockserver.Product{Application: app.Name, Name: cut(text, 100), Icon: "https://shop.example/" + cut(text, 600), Price: 5})
	require.NoError(t, err)
	u, err := s.SaveStoreUser(mockserver.StoreUser{Name: cut(text, 40), ID: strings.TrimSpace(cut(text, 100))})
	require.NoError(t, err)
	_, err = s.Buy(p.ID, u.ID)
	require.NoError(t, err)
	return []string{"/_mock/ui/store?edit=" + p.ID, "/_mock/ui/users?edit=" + url.QueryEscape(u.ID)}
}

// hostilePayment lets a payment go the way to a webhook that fails.
func hostilePayment(t *testing.T, s *mockserver.Server, app mockserver.Application, text string) []string {
	t.Helper()
	fields, err := json.Marshal(map[string]any{
		"token": app.Token, "title": text, "identifier": text, "icon": "https://shop.example/" + cut(text, 600),
		"items": []map[string]any{{"name": cut(text, 2000), "price": 5}},
	})
	require.NoError(t, err)
	var created struct{ PayToken string }
	require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments", string(fields))), &created))
	_, err = s.GivePayer(created.PayToken, cut(text, 40), 7)
	require.NoError(t, err)
	dashDo(t, s, "/_mock/ui/phone", "do", "upload", "package", "com.kbstar.kbbank", "title", cut(text, 1000), "text", "입금 5원 김철수", "subtitle", cut(text, 200))
	dashDo(t, s, "/_mock/ui/phone", "do", "upload", "package", "com.kbstar.kbbank", "title", text)
	_, err = s.Deposit(created.PayToken, mockserver.Deposit{Payer: text, Amount: 7})
	require.NoError(t, err)
	s.Advance(0)
	_, _ = browse(t, s, "GET", "/"+url.PathEscape(cut(text, 500))+"?a="+url.QueryEscape(cut(text, 500)), nil)
	return []string{"/_mock/ui/payments/" + created.PayToken, "/_mock/ui/payments?status=" + url.QueryEscape(cut(text, 50))}
}

// TestBrowserDashHostile: typed text is never markup, on any page, in the browser too.
func TestBrowserDashHostile(t *testing.T) {
	t.Parallel()
	page := browser(t).Open(t, chrome.Options{Width: 360, Height: 740})
	s, paths := dashHostile(t)
	seen := map[string]int{}
	for _, path := range paths {
		_, body := browse(t, s, "GET", path, nil)
		shown := dashText(t, body)
		for _, text := range hostile {
			if strings.Contains(shown, text) {
				seen[text]++
			}
		}
		page.Go(s.URL() + path)
		var clean bool
		page.Eval(`window.hacked === undefined && document.querySelectorAll("main img, main svg, main script").length === 0`, &clean)
		assert.True(t, clean, path)
		page.Audit()
	}
	for _, text := range hostile {
		assert.GreaterOrEqual(t, seen[text], 2, "the text must be readable on several pages: %.40s", text)
	}
	picture(page, "dash-hostile")
}

// TestDashHostileForms: a refused form returns hostile input as text.
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
