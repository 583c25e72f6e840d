package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDashUnmatched: an unmatched deposit is assigned, another one dismissed.
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
	assert.Equal(t, 1, strings.Count(body, "Id of another payment"), "next to candidates")
	assert.Equal(t, 1, strings.Count(body, "Payment id"), "without any")
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
	assert.Contains(t, dashPage(t, s, "/_mock/ui/unmatched"), "No deposits to review")
}

// TestDashFates: the phone's page shows the result of each notification.
func TestDashFates(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	for _, c := range []struct{ pkg, text, want string }{
		{"com.example.game", "입금 5,000원 김민수", "Ignored: the app"},
		{"com.kbstar.kbbank", "체크카드 출금 3,000원", "Not a deposit"},
		{"com.kbstar.kbbank", "입금 5,000원 김민수", "matches no single payment"},
	} {
		resp, _ := browse(t, s, "POST", "/_mock/ui/phone", formOf("do", "upload", "package", c.pkg, "text", c.text))
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		_, body := browse(t, s, "GET", "/_mock/ui/phone", nil, "Cookie", strings.Split(resp.Header.Get("Set-Cookie"), ";")[0])
		assert.Contains(t, body, c.want)
	}
}
