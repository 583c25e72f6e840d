package mockserver_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestPageTokenCanaryForms: a token that is typed into a field, whichever, does not come
// back, whether the form is refused or not.
func TestPageTokenCanaryForms(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	s := canaryServer(t, log, talkative{})
	open, sold := "", s.Products()[0].ID
	for _, p := range s.Payments() {
		if p.Status == mockserver.StatusCreated {
			open = p.ID
		}
	}
	deposit := s.Unmatched()[0].Notification.ID
	for path, forms := range map[string][]string{
		"/pay/" + open:                        {"payer", "amount"},
		"/store/1/user":                       {"name", "id"},
		"/store/1/buy":                        {"product", "user"},
		"/_mock/ui/payments/" + open:          {"do=payer payer amount", "do=pay payer amount method", "do=resend x", "do=deliver x", "do=" + canary},
		"/_mock/ui/phone":                     {"do=notify package payer amount", "do=upload package title subtitle text"},
		"/_mock/ui/unmatched":                 {"do=assign target=" + deposit + " other amount", "do=assign target other", "do=dismiss target"},
		"/_mock/ui/store":                     {"do=product id name icon price application", "do=product id=" + sold + " name price", "do=product-delete target"},
		"/_mock/ui/users":                     {"do=user id name"},
		"/_mock/ui/applications":              {"do=application name token webhook_url game_field dialect_errors", "do=application target=2 name webhook_url"},
		"/_mock/ui/clock":                     {"do=advance duration"},
		"/_mock/ui/faults":                    {"do=fault operation kind calls number delay bytes status", "do=chance rate seed max_delay operations kinds", "do=fault-remove target rule"},
		"/_mock/ui/deliveries?x=" + canary:    {"do=jump x", "do=resend target"},
		"/_mock/ui/payments?status=" + canary: {"do=resend target"},
	} {
		for _, fields := range forms {
			for _, text := range canaryTexts {
				form := url.Values{}
				for _, field := range strings.Fields(fields) {
					name, value, fixed := strings.Cut(field, "=")
					if !fixed {
						value = text
					}
					form.Set(name, value)
				}
				resp, body := browse(t, s, "POST", path, form)
				assert.Less(t, resp.StatusCode, 500, path)
				shown := 0
				if strings.Contains(path, "applications") && resp.StatusCode != http.StatusSeeOther {
					shown = len(s.Applications())
				}
				wantNoCanary(t, fmt.Sprint("POST ", path, form), resp, body, shown)
			}
		}
	}
	assert.Equal(t, canary, s.Applications()[0].Token)
	assert.False(t, holdsCanary(log.String()), log.String())
}

// TestPageKeepsHidden: a form that shows a text without its tokens does not lose them.
func TestPageKeepsHidden(t *testing.T) {
	t.Parallel()
	s := canaryServer(t, io.Discard, talkative{})
	value := func(body, field string) string {
		found := regexp.MustCompile(`name="` + field + `" value="([^"]*)"`).FindStringSubmatch(body)
		require.NotNil(t, found, field)
		return html.UnescapeString(found[1])
	}
	before := s.Applications()[0]
	_, body := browse(t, s, "GET", "/_mock/ui/applications?edit=1", nil)
	dashDo(t, s, "/_mock/ui/applications?edit=1", "do", "application", "target", "1", "name", "New name",
		"webhook_url", value(body, "webhook_url"), "game_field", value(body, "game_field"))
	assert.Equal(t, before.WebhookURL, s.Applications()[0].WebhookURL)
	assert.Equal(t, "New name", s.Applications()[0].Name)

	p := s.Products()[0]
	_, body = browse(t, s, "GET", "/_mock/ui/store?edit="+p.ID, nil)
	dashDo(t, s, "/_mock/ui/store", "do", "product", "id", p.ID, "name", value(body, "name"), "icon", value(body, "icon"), "price", "6", "application", "New name")
	p.Price, p.Application = 6, "New name"
	assert.Equal(t, p, s.Products()[0])
}

// TestPageShowsWordsLikeToken: a game may sell tokens.
func TestPageShowsWordsLikeToken(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	sell(t, s, mockserver.Product{Name: "token: 500", Price: 5})
	_, body := browse(t, s, "GET", "/store/1", nil)
	assert.Contains(t, body, "token: 500")
	_, body = browse(t, s, "GET", "/pay/"+create(t, s, `"items":[{"name":"Token=300","price":5}]`), nil)
	assert.Contains(t, body, "Token=300")
}
