package mockserver_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

var dashPaths = []string{
	"/_mock/", "/_mock/ui/payments", "/_mock/ui/deliveries", "/_mock/ui/phone", "/_mock/ui/unmatched", "/_mock/ui/store",
	"/_mock/ui/users", "/_mock/ui/applications", "/_mock/ui/clock", "/_mock/ui/faults", "/_mock/ui/requests",
}

var hangul = regexp.MustCompile(`\p{Hangul}`)

// dashPage is a page that must be there.
func dashPage(t *testing.T, s *mockserver.Server, path string) string {
	t.Helper()
	resp, body := browse(t, s, "GET", path, nil)
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	return body
}

// dashDo sends a form that must do its work, and returns where the browser goes.
func dashDo(t *testing.T, s *mockserver.Server, path string, fields ...string) string {
	t.Helper()
	resp, body := browse(t, s, "POST", path, formOf(fields...))
	require.Equal(t, http.StatusSeeOther, resp.StatusCode, body)
	return resp.Header.Get("Location")
}

// dashServer is a stopped server that listens.
func dashServer(t *testing.T, change ...func(*mockserver.Config)) *mockserver.Server {
	t.Helper()
	s := stopped(t, change...)
	require.NoError(t, s.Start())
	return s
}

func formOf(fields ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// TestDashEmpty: every page of a fresh server is there, in both languages.
func TestDashEmpty(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	for _, path := range dashPaths {
		for _, lang := range []string{"en", "ko"} {
			resp, body := browse(t, s, "GET", path, nil, "Accept-Language", lang)
			assert.Equal(t, http.StatusOK, resp.StatusCode, path)
			assert.Contains(t, body, `<html lang="`+lang+`">`, path)
			if lang == "en" && path != "/_mock/ui/phone" { // whose banks have Korean names
				assert.NotRegexp(t, hangul, strings.ReplaceAll(body, "한국어", ""), path)
			}
			assert.NotRegexp(t, `[^/_a-z]dash\.[a-z]+\.`, body, "%s shows the key of a text", path)
			assert.NotContains(t, body, "%!", path)
			tokens := 0
			if path == "/_mock/ui/applications" {
				tokens = 1
				assert.Regexp(t, `(?s)<details id="token-1" class="secret"><summary>[^<]*</summary>[^<]*<span class="copy"><bdi[^>]*>`+s.Token()+`</bdi>`, body)
			}
			assert.Equal(t, tokens, strings.Count(body, s.Token()), "%s: the token stands behind its control alone", path)
		}
	}
	resp, _ := browse(t, s, "GET", "/_mock", nil)
	assert.Equal(t, "/_mock/", resp.Header.Get("Location"))
}

// TestDashForms: what an operator does by hand, without scripts.
func TestDashForms(t *testing.T) {
	t.Parallel()
	s := dashServer(t, func(c *mockserver.Config) { c.WebhookTransport = answers(500) })

	dashDo(t, s, "/_mock/ui/applications?edit=1", "do", "application", "target", "1", "name", "Shop", "webhook_url", hookURL,
		"game_field", "brand_product", "dialect_envelope", "data", "dialect_errors", "object")
	app := s.Applications()[0]
	assert.Equal(t, "test_demo", app.Token, "the token stays")
	assert.Equal(t, "envelope=data,errors=object", app.Dialect.String())
	assert.Equal(t, "brand_product", app.GameField)
	dashDo(t, s, "/_mock/ui/applications", "do", "application", "name", "Other", "token", "test_other_1")
	require.Len(t, s.Applications(), 2)

	to := dashDo(t, s, "/_mock/ui/store", "do", "product", "name", "Sword", "price", "10,000", "application", "Shop")
	product := s.Products()[0]
	assert.Equal(t, "/_mock/ui/store#product-"+product.ID, to)
	assert.Equal(t, int64(10000), product.Price)
	assert.Contains(t, dashPage(t, s, "/_mock/ui/store"), product.ID)
	dashDo(t, s, "/_mock/ui/store?edit="+product.ID, "do", "product", "id", product.ID, "name", "Axe", "price", "9000", "application", "Shop")
	assert.Equal(t, "Axe", s.Products()[0].Name)
	dashDo(t, s, "/_mock/ui/users", "do", "user", "name", "Kim", "id", "kim-1")
	bought, err := s.Buy(product.ID, "kim-1")
	require.NoError(t, err)

	at := "/_mock/ui/payments/" + bought.ID
	assert.Equal(t, at, dashDo(t, s, at, "do", "payer", "payer", "김민수"))
	dashDo(t, s, "/_mock/ui/phone", "do", "notify", "package", "com.kbstar.kbbank", "payer", "김민수", "amount", "9000")
	s.Advance(0)
	assert.Equal(t, mockserver.StatusProgress, s.Payments()[0].Status)
	assert.Contains(t, dashPage(t, s, "/_mock/ui/phone"), "MATCHED")
	assert.Contains(t, dashPage(t, s, at), "answered HTTP 500")
	assert.Contains(t, dashPage(t, s, at), "X-Retry-Count: 0")

	dashDo(t, s, "/_mock/ui/deliveries?status=pending", "do", "jump")
	assert.Equal(t, start.Add(5*time.Second), s.Now())
	dashDo(t, s, "/_mock/ui/deliveries", "do", "deliver", "target", bought.ID)
	s.Advance(0)
	dashDo(t, s, at, "do", "resend")
	s.Advance(0)
	assert.Len(t, onlyDelivery(t, s).Attempts, 4)
	dashDo(t, s, "/_mock/ui/clock", "do", "advance", "by", "1h")
	dashDo(t, s, "/_mock/ui/clock", "do", "advance", "duration", "2h 30m")
	assert.Equal(t, start.Add(3*time.Hour+30*time.Minute+5*time.Second), s.Now())

	dashDo(t, s, "/_mock/ui/store", "do", "product-delete", "target", product.ID)
	assert.Empty(t, s.Products())
}

// TestDashRequestAsSent: the dashboard shows the request that the receiver got.
func TestDashRequestAsSent(t *testing.T) {
	t.Parallel()
	var got []string
	s := dashServer(t, withHook(func(r *http.Request, body string) (int, error) {
		got = append(got, fmt.Sprintf("POST %s HTTP/1.1\nHost: %s\nUser-Agent: %s\nContent-Length: %d\nContent-Type: %s\nX-Retry-Count: %s\nX-Webhook-ID: %s\n\n%s",
			r.URL.RequestURI(), r.URL.Host, r.Header.Get("User-Agent"), r.ContentLength, r.Header.Get("Content-Type"),
			r.Header.Get("X-Retry-Count"), r.Header.Get("X-Webhook-Id"), body))
		assert.Len(t, r.Header, 4, "another header is sent, which the dashboard does not show")
		return 500, nil
	}))
	id := create(t, s, `"amount":5`)
	deposit(t, s, id, 5)
	s.Advance(time.Minute)
	body := dashText(t, dashPage(t, s, "/_mock/ui/payments/"+id))
	require.Len(t, got, 2)
	for _, request := range got {
		assert.Contains(t, body, request)
	}
}

// TestDashUnmatched: a deposit of nobody is assigned, another one dismissed.
func TestDashUnmatched(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	a, b := create(t, s, `"amount":7000`), create(t, s, `"amount":7000`)
	for _, id := range []string{a, b} {
		_, err := s.GivePayer(id, "이영희", 0)
		require.NoError(t, err)
	}
	dashDo(t, s, "/_mock/ui/phone", "do", "notify", "package", "com.kbstar.kbbank", "payer", "이영희", "amount", "7000")
	dashDo(t, s, "/_mock/ui/phone", "do", "notify", "package", "com.kbstar.kbbank", "payer", "Nobody", "amount", "1")
	body := dashPage(t, s, "/_mock/ui/unmatched")
	assert.Contains(t, body, "Several payments wait")
	assert.Contains(t, body, "No payment waits for this payer")
	list := s.Unmatched()
	resp, body := browse(t, s, "POST", "/_mock/ui/unmatched", formOf("do", "assign", "target", list[0].Notification.ID, "other", ""))
	assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	assert.Contains(t, body, "Choose a candidate")
	assert.Equal(t, "/_mock/ui/payments/"+b,
		dashDo(t, s, "/_mock/ui/unmatched", "do", "assign", "target", list[0].Notification.ID, "payToken", b))
	p, _ := s.Payment(b)
	assert.Equal(t, mockserver.StatusProgress, p.Status)
	dashDo(t, s, "/_mock/ui/unmatched", "do", "dismiss", "target", list[1].Notification.ID)
	assert.Empty(t, s.Unmatched())
	assert.Contains(t, dashPage(t, s, "/_mock/ui/unmatched"), "No deposit waits for you")
}

// TestDashFates: the phone says what became of what it sent.
func TestDashFates(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	for _, c := range []struct{ pkg, text, want string }{
		{"com.example.game", "입금 5,000원 김민수", "Ignored: the app"},
		{"com.kbstar.kbbank", "체크카드 출금 3,000원", "It tells of no deposit"},
		{"com.kbstar.kbbank", "입금 5,000원 김민수", "of no payment for sure"},
	} {
		resp, _ := browse(t, s, "POST", "/_mock/ui/phone", formOf("do", "upload", "package", c.pkg, "text", c.text))
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		_, body := browse(t, s, "GET", "/_mock/ui/phone", nil, "Cookie", strings.Split(resp.Header.Get("Set-Cookie"), ";")[0])
		assert.Contains(t, body, c.want)
	}
}

// TestDashErrorCodes: the request log shows the error code, in whatever dialect it was told.
func TestDashErrorCodes(t *testing.T) {
	t.Parallel()
	for _, errs := range []string{"text", "object", "code"} {
		s := dashServer(t)
		dialect, err := mockserver.ParseDialect("errors=" + errs)
		require.NoError(t, err)
		require.NoError(t, s.SetDialect(s.Token(), dialect))
		poll(t, s)
		api(t, s, "POST", "/payments", `{"token":"`+s.Token()+`"}`)
		body := dashPage(t, s, "/_mock/ui/requests")
		assert.Regexp(t, `(?s)badge bad">HTTP 200</span>\s*<code>.*?</code> <code class="code">INVALID_PARAMETER</code>.*?badge ok">HTTP 200</span>\s*<code>.*?</code> <code class="code">NO_PROCESSED_PAYMENT</code>`, body, errs)
		assert.NotContains(t, body, s.Token())
	}
}

// TestDashPaging: lists are cut into pages, the newest first, and filtered by status.
func TestDashPaging(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	var ids []string
	for range 120 {
		ids = append(ids, create(t, s, `"amount":5`))
	}
	for _, id := range ids[:60] {
		deposit(t, s, id, 5)
	}
	rows := func(path string) []string {
		var list []string
		for _, m := range regexp.MustCompile(`data-key="row-([^"]+)"`).FindAllStringSubmatch(dashPage(t, s, path), -1) {
			list = append(list, m[1])
		}
		return list
	}
	reversed := func(from, to int) []string {
		var list []string
		for i := to - 1; i >= from; i-- {
			list = append(list, ids[i])
		}
		return list
	}
	assert.Equal(t, reversed(70, 120), rows("/_mock/ui/payments"))
	assert.Equal(t, reversed(20, 70), rows("/_mock/ui/payments?page=2"))
	assert.Equal(t, reversed(0, 20), rows("/_mock/ui/payments?page=3"))
	assert.Equal(t, reversed(10, 60), rows("/_mock/ui/payments?status=PROGRESS"))
	assert.Equal(t, reversed(0, 10), rows("/_mock/ui/payments?status=PROGRESS&page=2"))
	assert.Empty(t, rows("/_mock/ui/payments?status=COMPLETE"))
	assert.Len(t, regexp.MustCompile(`data-key="request-`).FindAllString(dashPage(t, s, "/_mock/ui/requests?page=3"), -1), 20)
}

// dashText is the text of a page as a parser reads it. The page must hold no element and
// no attribute but its own.
func dashText(t *testing.T, body string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			assert.NotContains(t, []string{"img", "svg", "iframe", "style", "object"}, token.Name.Local)
			for _, a := range token.Attr {
				assert.False(t, strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style", "%v", token)
				if a.Name.Local == "href" || a.Name.Local == "src" || a.Name.Local == "action" {
					assert.Regexp(t, `^(/[^/]|[?#]|data:,$)`, a.Value)
				}
				text.WriteString("\n" + a.Value + "\n")
			}
			if token.Name.Local == "script" {
				assert.Contains(t, fmt.Sprint(token.Attr), "/_page/live.js")
			}
		}
	}
}
