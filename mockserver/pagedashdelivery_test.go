package mockserver_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// saying is a receiver that answers with a text.
type saying string

func (h saying) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusBadGateway, Body: io.NopCloser(strings.NewReader(string(h))), Request: r}, nil
}

// TestDashShowsAnswer: a delivery shows the receiver's response as text, and where each
// attempt went if the URL has changed.
func TestDashShowsAnswer(t *testing.T) {
	t.Parallel()
	for _, text := range append([]string{`{"why":"the table is locked"}`}, hostile[:7]...) {
		s := dashServer(t, func(c *mockserver.Config) { c.Applications, c.WebhookTransport = hooked, saying(text) })
		id := create(t, s, `"amount":5`)
		deposit(t, s, id, 5)
		s.Advance(0)
		body := dashText(t, dashPage(t, s, "/_mock/ui/payments/"+id))
		_, answer, shown := strings.Cut(body, "Response body")
		assert.True(t, shown)
		assert.Contains(t, answer, text)
		require.NoError(t, s.SetWebhook(s.Token(), "http://127.0.0.1:9/other?a=1"))
		dashDo(t, s, "/_mock/ui/deliveries", "do", "resend", "target", id)
		s.Advance(0)
		body = dashText(t, dashPage(t, s, "/_mock/ui/deliveries"))
		assert.Contains(t, body, "POST /other?a=1 HTTP/1.1")
		assert.Contains(t, body, "POST /hook HTTP/1.1", "the first attempt went elsewhere")
		assert.Equal(t, 2, strings.Count(body, "Sent to"), "the delivery's, and that of the attempt which went elsewhere")
	}
	s := dashServer(t, withHook(answers(http.StatusInternalServerError)))
	id := create(t, s, `"amount":5`)
	deposit(t, s, id, 5)
	s.Advance(0)
	assert.Contains(t, dashPage(t, s, "/_mock/ui/payments/"+id), "It is empty.")
}

// TestDashChanceHostile: hostile texts in the forms of faults are refused, as text.
func TestDashChanceHostile(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	for _, text := range hostile {
		for _, form := range []url.Values{
			formOf("do", "chance", "rate", text),
			formOf("do", "chance", "rate", "1", "seed", text),
			formOf("do", "chance", "rate", "1", "max_delay", text),
			formOf("do", "chance", "rate", "1", "operations", text),
			formOf("do", "chance", "rate", "1", "kinds", text),
			formOf("do", "fault-remove", "target", text, "rule", text),
			formOf("do", "fault-remove", "target", "-1", "rule", text),
			formOf("do", "fault-remove", "target", "9223372036854775807", "rule", text),
		} {
			resp, body := browse(t, s, "POST", "/_mock/ui/faults", form)
			assert.GreaterOrEqual(t, resp.StatusCode, 400)
			assert.Less(t, resp.StatusCode, 500)
			dashText(t, body)
		}
	}
	assert.Zero(t, s.Faults().Rate)
}
