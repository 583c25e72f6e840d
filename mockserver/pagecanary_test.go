package mockserver_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// The canaries are tokens that nobody could meet by chance. The second one is allowed as
// the name of a field.
const (
	canary      = "test_cAnArY.7~x-9"
	fieldCanary = "test_cAnArY_8"
)

// canaryTexts are ways in which a token gets into a text.
var canaryTexts = []string{
	canary, "my token is " + canary + "!", `"token":"` + canary + `"`, "a?token=" + canary + "&b=" + fieldCanary,
	"%74est_cAnArY.7%7Ex-9", `\u0074est_cAnArY.7~x-9`, strings.Repeat("가", 90) + canary, strings.Repeat("x", 190) + canary + strings.Repeat("y", 300),
}

// holdsCanary reports whether a text shows a token, also to somebody who resolves escapes.
func holdsCanary(text string) bool {
	for range 3 {
		if strings.Contains(text, "cAnArY") {
			return true
		}
		text = html.UnescapeString(text)
		text = regexp.MustCompile(`%[0-9a-fA-F]{2}`).ReplaceAllStringFunc(text, func(s string) string {
			c, _ := url.PathUnescape(s)
			return c
		})
	}
	return false
}

// canaryServer is a server to which people have told its tokens wherever they could.
func canaryServer(t *testing.T, log io.Writer, receiver http.RoundTripper) *mockserver.Server {
	t.Helper()
	s := dashServer(t, func(c *mockserver.Config) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))
		c.Account = mockserver.Account{Bank: "Bank", Number: canary, Holder: "H " + canary}
		c.Applications = []mockserver.Application{
			{Name: "Shop", Token: canary, WebhookURL: "http://127.0.0.1:9/" + canary + "?token=" + canary},
			{Name: "Game", Token: fieldCanary, GameField: fieldCanary},
		}
		c.WebhookTransport = receiver
	})
	for _, text := range canaryTexts {
		short := string([]rune(text)[max(0, len([]rune(text))-39):])
		p, err := s.SaveProduct(mockserver.Product{Name: short, Icon: "https://a.example/" + text, Price: 5, Application: "Shop"})
		require.NoError(t, err)
		u, err := s.SaveStoreUser(mockserver.StoreUser{Name: short, ID: "u" + short})
		require.NoError(t, err)
		bought, err := s.Buy(p.ID, u.ID)
		require.NoError(t, err)
		_, err = s.GivePayer(bought.ID, short, 0)
		require.NoError(t, err)
		for _, more := range []int{0, 1, 2} {
			body, err := json.Marshal(map[string]any{
				"token": canary, "title": text, "identifier": text, "icon": "https://a.example/" + text,
				"items": []map[string]any{{"name": text, "price": 5, "icon": "https://b.example/" + text}},
			})
			require.NoError(t, err)
			var created struct{ PayToken string }
			require.NoError(t, json.Unmarshal([]byte(api(t, s, "POST", "/payments", string(body))), &created))
			if more > 0 {
				_, err = s.GivePayer(created.PayToken, short, 7)
				require.NoError(t, err)
			}
			if more > 1 {
				_, err = s.Deposit(created.PayToken, mockserver.Deposit{Payer: text, Amount: 9})
				require.NoError(t, err)
			}
		}
		dashDo(t, s, "/_mock/ui/phone", "do", "upload", "package", "com.kbstar.kbbank", "title", text, "text", "입금 5원 "+short, "subtitle", text)
		_, _ = browse(t, s, "GET", "/"+url.PathEscape(text)+"?"+url.QueryEscape(text)+"="+url.QueryEscape(text), nil, "User-Agent", text)
		_, _ = call(t, s, "POST", "/payments", text)
	}
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "next", Kind: "status-after", Status: 500, Nth: 1}))
	_, _ = call(t, s, "GET", "/callback/rest?token="+canary, "")
	s.JumpToNextAttempt()
	return s
}

// canaryPaths are all pages, also as somebody asks for them who puts tokens into addresses.
func canaryPaths(s *mockserver.Server) []string {
	paths := append([]string{
		"/_mock/ui/applications?edit=1", "/_mock/ui/applications?edit=2", "/store/", "/store/1", "/store/2", "/store/1?icons=1", "/store/99",
		"/openapi", "/openapi.yaml", "/pay/nobody", "/pay/" + canary, "/store/" + canary, "/_mock/ui/payments/" + canary, "/_page/" + canary,
		"/_page/live.js", "/_page/tick.js", "/_page/style.css", "/_mock/ui/payments?status=" + canary + "&" + canary + "=1",
		"/_mock/ui/payments?page=" + canary, "/_mock/ui/store?edit=" + canary, "/_mock/ui/users?edit=" + canary, "/store/1?user=" + canary + "&lang=en",
		"/_mock/ui/requests?x=%74est_cAnArY.7~x-9", "/_mock/ui/requests?page=2",
	}, dashPaths...)
	for _, p := range s.Payments() {
		paths = append(paths, "/pay/"+p.ID, "/pay/"+p.ID+"?icons=1", "/pay/"+p.ID+"?edit=1", "/_mock/ui/payments/"+p.ID)
	}
	for _, p := range s.Products() {
		paths = append(paths, "/_mock/ui/store?edit="+p.ID)
	}
	for _, u := range s.StoreUsers() {
		paths = append(paths, "/_mock/ui/users?edit="+url.QueryEscape(u.ID), "/store/1?user="+url.QueryEscape(u.ID))
	}
	return paths
}

// wantNoCanary wants no token in an answer. shown is how many tokens the page has behind
// its control, each alone.
func wantNoCanary(t *testing.T, what string, resp *http.Response, body string, shown int) {
	t.Helper()
	secret := regexp.MustCompile(`(?s)<details id="token-[12]" class="secret"><summary>[^<]*</summary><span class="copy"><bdi class="copied" id="tok-[12]">[^<]*</bdi>`)
	assert.Len(t, secret.FindAllString(body, -1), shown, what)
	body = secret.ReplaceAllString(body, "")
	if holdsCanary(body) {
		at := strings.Index(html.UnescapeString(body), "cAnArY")
		assert.Fail(t, "a token is shown", "%s: …%s…", what, html.UnescapeString(body)[max(0, at-200):max(0, min(len(body), at+60))])
	}
	for name, values := range resp.Header {
		for _, value := range values {
			flash, _, _ := strings.Cut(strings.TrimPrefix(value, "mock_flash="), ";")
			said, _ := base64.RawURLEncoding.DecodeString(flash)
			assert.False(t, holdsCanary(value) || holdsCanary(string(said)), "%s: %s: %s", what, name, value)
		}
	}
}

// TestPageTokenCanary looks for the tokens of the applications in every byte of every page,
// its headers, the stream of changes and the log. They stand in one place alone, which is
// there to show them.
func TestPageTokenCanary(t *testing.T) {
	t.Parallel()
	for name, receiver := range map[string]http.RoundTripper{"answers": talkative{}, "fails": talkative{fails: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lockedBuffer{}
			s := canaryServer(t, log, receiver)
			next, stop := listenToChanges(t, s)
			defer stop()
			for _, path := range canaryPaths(s) {
				for _, header := range [][]string{{"Accept-Language", "ko"}, {"X-Fragment", "1"}} {
					resp, body := browse(t, s, "GET", path, nil, header...)
					assert.Less(t, resp.StatusCode, 500, path)
					shown := 0
					if strings.HasPrefix(path, "/_mock/ui/applications") {
						shown = 2
					}
					wantNoCanary(t, "GET "+path, resp, body, shown)
				}
			}
			event, err := next()
			require.NoError(t, err)
			require.NoError(t, s.SetWebhook(canary, ""))
			again, err := next()
			require.NoError(t, err)
			assert.Regexp(t, `^data: \d+\ndata: \d+\n$`, event+again)
			assert.False(t, holdsCanary(log.String()), log.String())
		})
	}
}
