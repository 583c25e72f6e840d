package mockserver_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDashRefusals: a refused form comes back as typed with the reason, in the language of
// the page, and changes nothing.
func TestDashRefusals(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	id := create(t, s, "")
	for _, c := range []struct {
		path, field string
		form        url.Values
	}{
		{"payments/" + id, "payer", formOf("do", "payer", "payer", "", "amount", "5")},
		{"payments/" + id, "amount", formOf("do", "payer", "payer", "Kim", "amount", "")},
		{"payments/" + id, "amount", formOf("do", "pay", "amount", "1.5")},
		{"payments/" + id, "amount", formOf("do", "pay", "amount", "0")},
		{"payments/" + id, "", formOf("do", "deliver")},
		{"phone", "payer", formOf("do", "notify", "package", "com.kbstar.kbbank", "payer", strings.Repeat("가", 41), "amount", "5")},
		{"phone", "amount", formOf("do", "notify", "package", "com.kbstar.kbbank", "payer", "Kim", "amount", "")},
		{"phone", "title", formOf("do", "upload", "package", "com.kbstar.kbbank", "title", "")},
		{"store", "price", formOf("do", "product", "name", "Sword", "price", "0")},
		{"store", "icon", formOf("do", "product", "name", "Sword", "price", "1", "icon", "http://a.example/i.png")},
		{"users", "name", formOf("do", "user", "name", " ")},
		{"applications", "token", formOf("do", "application", "name", "A", "token", "live_secret_1")},
		{"applications", "token", formOf("do", "application", "name", "A", "token", "test_demo")},
		{"applications", "webhook_url", formOf("do", "application", "token", "test_2", "webhook_url", "http://merchant.example/")},
		{"applications", "game_field", formOf("do", "application", "token", "test_2", "game_field", "items")},
		{"clock", "duration", formOf("do", "advance", "duration", "soon")},
		{"clock", "duration", formOf("do", "advance", "duration", "-5m")},
		{"faults", "delay", formOf("do", "fault", "operation", "next", "kind", "delay-after", "delay", "")},
		{"faults", "status", formOf("do", "fault", "operation", "next", "kind", "status-after", "status", "200")},
		{"faults", "number", formOf("do", "fault", "operation", "next", "kind", "cut", "calls", "probability", "number", "2")},
	} {
		resp, body := browse(t, s, "POST", "/_mock/ui/"+c.path, c.form, "Accept-Language", "ko")
		name := fmt.Sprint(c.path, c.form)
		assert.GreaterOrEqual(t, resp.StatusCode, 409, name)
		found := regexp.MustCompile(`(?s)<p class="error" id="([a-z]+)-([a-z_]+)-error">(.*?)</p>|<p class="notice bad" role="alert">(.*?)</p>`).FindStringSubmatch(body)
		if assert.NotNil(t, found, name) {
			assert.Equal(t, c.field, found[2], name)
			why := strings.ReplaceAll(found[3]+found[4], "오류", "")
			assert.Regexp(t, hangul, why, "%s: %s", name, why)
		}
		assert.NotContains(t, body, "live_secret_1", "a token does not come back")
	}
	assert.Len(t, s.Applications(), 1)
	assert.Empty(t, s.Products())
	assert.Empty(t, s.StoreUsers())
	assert.Equal(t, start, s.Now())
	assert.Empty(t, s.Faults().Rules)
	for _, form := range []url.Values{{}, {"do": {"destroy"}}} {
		resp, _ := browse(t, s, "POST", "/_mock/ui/clock", form)
		assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	}
}
