package mockserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// lastLogged is everything that the log holds about the last request.
func lastLogged(t *testing.T, s *mockserver.Server) string {
	t.Helper()
	list := s.Requests()
	require.NotEmpty(t, list)
	return fmt.Sprintf("%+v", list[len(list)-1])
}

func escapeAll(token, format string) string {
	var b strings.Builder
	for _, c := range []byte(token) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func TestLogNeverShowsATokenInABody(t *testing.T) {
	t.Parallel()
	const known, unknown = "test_kn0wn", "live_s3cret"
	s := stopped(t, func(c *mockserver.Config) { c.Applications = apps(known) })
	padding := strings.Repeat("x", 4096-27) // the value then begins 6 bytes before the cut
	for _, token := range []string{known, unknown} {
		escaped := escapeAll(token, `\u%04x`)
		bodies := []string{
			`{"token":"` + token + `","title":"T","identifier":"i"}`,
			`{"token" : "` + escaped + `"}`,
			`{"t\u006fken":"` + token + `"}`,
			`{"token":"` + token + `\u0022` + token + `"}`,
			`{"token":"\"` + token + `"}`,
			`{"t\u006fken":"\"` + token + `"}`,
			`{"TOKEN":"` + token + `"}`,
			`{"token":["a","` + token + `"]}`,
			`{"token":{"a":{"b":"x}"},"c":"` + token + `"}}`,
			`{"nested":[{"token":"` + token + `"}]}`,
			`{"token":"` + token,               // cut off
			`{"token":` + token + `}`,          // no quotes
			`{"token":"` + token + `"x"broken`, // malformed
			`{token:'` + token + `'}`,
			`token=` + token + `&title=T`,
			`{"title":"` + padding + `","token":"` + token + `"}`, // the cut of the log falls into it
			`{"inner":"{\"token\":\"` + token + `\"}"}`,
			`{"inner":"{\"t\\u006fken\":\"` + token + `\"}"}`,
			`{"inner":"{\u0022token\u0022:\u0022` + token + `\u0022}"}`,
		}
		if token == known {
			bodies = append(bodies, `{"title":"`+token+`"}`, `{"`+token+`":1}`, token, `["`+escaped+`"]`,
				strings.Repeat("x", 4089)+token, `{"title":"`+escapeAll(token, "%%%02x")+`"}`)
		}
		for _, body := range bodies {
			api(t, s, "POST", "/payments", body)
			entry := lastLogged(t, s)
			assert.NotContains(t, entry, token[:6], "body %.200s", body)
			assert.NotContains(t, entry, token[5:], "body %.200s", body)
			assert.NotContains(t, entry, escapeAll(token[5:], `\u%04x`), "body %.200s", body)
			assert.NotContains(t, entry, escapeAll(token[5:], `%%%02x`), "body %.200s", body)
			assert.LessOrEqual(t, len(s.Requests()[0].Body), 4096)
		}
	}
}

func TestLogNeverShowsATokenInAnAddress(t *testing.T) {
	t.Parallel()
	const known, unknown = "test_kn0wn", "live_s3cret"
	s := stopped(t, func(c *mockserver.Config) { c.Applications = apps(known) })
	for _, token := range []string{known, unknown} {
		percent := escapeAll(token, "%%%02X")
		targets := []string{
			"/callback/rest?token=" + token,
			"/callback/rest?a=b&token=" + percent + "&c=d",
			"/callback/rest?tok%65n=" + token,
			"/callback/rest?token=" + token + "&token=" + token,
			"/callback/rest?token=" + token + "%26" + token,
			"/callback/rest?token=" + url.QueryEscape(percent),
			"/callback/rest?x=" + url.QueryEscape(`{"token":"`+token+`"}`),
			"/callback/rest?pad=" + strings.Repeat("x", 4060) + "&token=" + token,
		}
		if token == known {
			targets = append(targets, "/x/"+token, "/x/"+percent+"/y", "/callback/rest?other="+percent, "/callback/rest?other="+url.QueryEscape(percent), "/callback/rest?"+token)
		}
		for _, target := range targets {
			api(t, s, "GET", target, "")
			entry := lastLogged(t, s)
			assert.NotContains(t, entry, token[5:], target)
			assert.NotContains(t, entry, percent[15:], target)
			assert.NotContains(t, entry, url.QueryEscape(percent)[25:], target)
		}
	}
}

func TestLogKeepsTheRest(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests = 3 })
	id := create(t, s, "")
	confirm(t, s, id)
	api(t, s, "GET", "/callback/rest?a=%20b&token=test_demo&c", "")
	api(t, s, "DELETE", "/no%2Fwhere", `{"payToken":"p","atoken":"q","x":"50%"}`)
	api(t, s, "GET", "/mobile/banks", "")
	got := s.Requests()
	require.Len(t, got, 3, "the oldest are forgotten")
	assert.Equal(t, "a=%20b&token=[REDACTED]&c", got[0].Query)
	assert.Equal(t, mockserver.Request{
		Time: start, Method: "DELETE", Path: "/no%2Fwhere", Status: 200, Body: `{"payToken":"p","atoken":"q","x":"50%"}`,
		Response: `{"error":"NOT_FOUND","error_msg":"the service has no such path"}`,
	}, got[1])
	assert.Equal(t, "/mobile/banks", got[2].Path)
	assert.Equal(t, api(t, s, "GET", "/mobile/banks", ""), got[2].Response)
}

func TestErrorsAndDescriptionsHoldNoToken(t *testing.T) {
	t.Parallel()
	const live = "live_s3cret"
	_, err := mockserver.New(mockserver.Config{Applications: apps(live)})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), live)
	s := stopped(t)
	for _, answer := range []string{
		api(t, s, "GET", "/callback/rest?token="+live, ""),
		api(t, s, "POST", "/payments", `{"token":"`+live+`","title":"T","identifier":"i"}`),
		api(t, s, "POST", "/payments", `{"token":`+live+`}`),
		s.SetWebhook(live, hookURL).Error(),
		fmt.Sprint(s), fmt.Sprintf("%v %+v", s, s), s.LogValue().String(),
	} {
		assert.NotContains(t, answer, live)
		assert.NotContains(t, answer, s.Token())
	}
}
