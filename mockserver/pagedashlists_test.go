package mockserver_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDashErrorCodes: the request log shows the error code in every dialect.
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

// TestDashPaging: lists have pages, newest first, and a filter by status.
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
