package mockserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

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
