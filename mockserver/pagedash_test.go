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

// TestDashEmpty: every page of a new server exists in both languages.
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
			assert.Equal(t, tokens, strings.Count(body, s.Token()), "%s: the token is only behind its control", path)
		}
	}
	resp, _ := browse(t, s, "GET", "/_mock", nil)
	assert.Equal(t, "/_mock/", resp.Header.Get("Location"))
}

// TestDashForms: the forms of the dashboard work without scripts.
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
	assert.Contains(t, dashPage(t, s, at), "responded with HTTP 500")
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

// TestDashVoucher: an operator can play a gift voucher, also a failed one.
func TestDashVoucher(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	id, failed := create(t, s, `"amount":5000`), create(t, s, `"amount":5000`)
	at := "/_mock/ui/payments/" + id
	assert.Regexp(t, `(?s)<select[^>]*name="method".*<option value="DEPOSIT" selected>.*<option value="CULTURE">`, dashPage(t, s, at))
	_, body := browse(t, s, "POST", at, formOf("do", "pay", "amount", "many", "method", "CULTURE"))
	assert.Contains(t, body, `<option value="CULTURE" selected>`, "a form that is refused keeps the choice")

	dashDo(t, s, at, "do", "pay", "amount", "5000", "method", "CULTURE")
	dashDo(t, s, "/_mock/ui/payments/"+failed, "do", "pay", "amount", "0", "method", "CULTURE")
	for i, paid := range []int64{5000, 0} {
		p := s.Payments()[i]
		assert.Equal(t, mockserver.StatusProgress, p.Status)
		assert.Equal(t, mockserver.MethodCulture, p.Method)
		assert.Equal(t, paid, p.PaidAmount)
	}
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

// dashText is the text of a page as a parser reads it. The page must have no foreign element
// and attribute.
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
				assert.Regexp(t, `/_page/(live|tick)\.js`, fmt.Sprint(token.Attr))
			}
		}
	}
}
