package mockserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

const (
	patienceForBrowsers = time.Minute
	tickOfBrowsers      = 20 * time.Millisecond
)

// hostile are texts that have broken pages before.
var hostile = []string{
	`<script>window.hacked=1;alert(1)</script>`,
	`"><img src=x onerror=alert(1)>'`,
	`</title></textarea></script><svg onload=alert(1)>`,
	"{{.}} ${x} <!-- ]]> &amp; &lt;b&gt;",
	"\u202eevil\u202c \u2066x\u2069 العربية",
	"👩‍👩‍👧‍👦🏴‍☠️ 이름",
	"javascript:alert(1)",
	strings.Repeat("가나다라마바사 abc", 800),
	strings.Repeat("W", 10000),
}

func TestCheckoutStages(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t, mockserver.Config{Lifetime: time.Hour, Clock: mockserver.NewStoppedClock(start)})
	expired := create(t, s, `"amount":5`)
	s.Advance(time.Hour)
	paid, done, voucher := create(t, s, `"amount":5`), create(t, s, `"amount":5`), create(t, s, "")
	for _, id := range []string{paid, done} {
		deposit(t, s, id, 7)
	}
	_, err := s.Deposit(voucher, mockserver.Deposit{Failed: true})
	require.NoError(t, err)
	confirm(t, s, done)
	for id, want := range map[string]string{
		create(t, s, `"amount":5`): "Tell us who will pay", expired: "This payment has expired",
		paid: "Your deposit has arrived", done: "The payment is complete", voucher: "Nothing was paid",
	} {
		_, body := browse(t, s, "GET", "/pay/"+id, nil)
		assert.Contains(t, body, want)
		assert.Equal(t, want == "Tell us who will pay", strings.Contains(body, "<form"), want)
		assert.Equal(t, want != "The payment is complete" && want != "Nothing was paid", strings.Contains(body, `data-live="/_page/changes"`), "%s: more will happen", want)
		assert.Equal(t, want == "Tell us who will pay", strings.Contains(body, "2025-03-01 23:00 KST"), "%s: until when, where the customer lives", want)
	}
	_, body := browse(t, s, "GET", "/pay/"+done, nil)
	assert.Contains(t, body, "₩7", "what was paid")
	assert.Contains(t, body, "₩5", "what was due")

	for id, want := range map[string]string{paid: "paid already", done: "paid already", expired: "has expired"} {
		for _, payer := range []string{"Kim", ""} {
			resp, _ := browse(t, s, "POST", "/pay/"+id, url.Values{"payer": {payer}})
			require.Equal(t, http.StatusSeeOther, resp.StatusCode)
			_, body := browse(t, s, "GET", resp.Header.Get("Location"), nil, "Cookie", strings.Split(resp.Header.Get("Set-Cookie"), ";")[0])
			assert.Contains(t, body, want)
			assert.Contains(t, body, `role="alert"`)
		}
	}
	resp, body := browse(t, s, "GET", "/pay/6f1c8e0e-0000-4000-8000-000000000000", nil, "Accept-Language", "ko")
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	assert.Contains(t, body, "결제를 찾을 수 없습니다")
}

func TestCheckoutForm(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	for _, c := range []struct {
		payer, amount, want string
		got                 int64
	}{
		{"Kim", "10000", "", 10000},
		{" Kim ", "10,000원", "", 10000},
		{"Kim", "₩ 1", "", 1},
		{"", "1", "Enter the name of the payer.", 0},
		{" \t ", "1", "Enter the name of the payer.", 0},
		{strings.Repeat("가", 40), "1", "", 1},
		{strings.Repeat("가", 41), "1", "Use at most 40 characters.", 0},
		{"a\x00b", "1", "characters that banks do not use", 0},
		{"a\xff", "1", "characters that banks do not use", 0},
		{"Kim", "", "Enter the amount that you will pay.", 0},
		{"Kim", "0", "Enter a whole number of at least 1.", 0},
		{"Kim", "-5", "Enter a whole number of at least 1.", 0},
		{"Kim", "+5", "Enter a whole number of at least 1.", 0},
		{"Kim", "1.5", "Enter a whole number of at least 1.", 0},
		{"Kim", "원", "Enter a whole number of at least 1.", 0},
		{"Kim", "9223372036854775808", "Enter a whole number of at least 1.", 0},
	} {
		id := create(t, s, "")
		resp, body := browse(t, s, "POST", "/pay/"+id, url.Values{"payer": {c.payer}, "amount": {c.amount}})
		p, _ := s.Payment(id)
		if c.want == "" {
			assert.Equal(t, http.StatusSeeOther, resp.StatusCode, "%+v", c)
			assert.Equal(t, strings.TrimSpace(c.payer), p.Payer)
			assert.Equal(t, c.got, p.PayerAmount)
			continue
		}
		assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode, "%+v", c)
		assert.Contains(t, body, c.want, "%+v", c)
		assert.Equal(t, 1, strings.Count(body, `aria-invalid="true"`), "%+v", c)
		assert.Equal(t, mockserver.StatusCreated, p.Status)
	}
	fixed := create(t, s, `"amount":5`)
	resp, _ := browse(t, s, "POST", "/pay/"+fixed, url.Values{"payer": {"Kim"}, "amount": {"999"}})
	assert.Equal(t, http.StatusSeeOther, resp.StatusCode)
	p, _ := s.Payment(fixed)
	assert.Equal(t, int64(5), p.AmountDue(), "a fixed price is not the customer's business")
}

func TestCheckoutIcons(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, `"icon":"https://shop.example/i.png","items":[{"name":"n","price":1,"icon":"https://shop.example/n.png?a=1&b=2"}]`)
	resp, body := browse(t, s, "GET", "/pay/"+id, nil)
	assert.NotContains(t, body, "shop.example", "nothing is loaded from elsewhere unasked")
	assert.Contains(t, body, `href="/pay/`+id+`?icons=1"`)
	assert.NotContains(t, resp.Header.Get("Content-Security-Policy"), "https:")
	resp, body = browse(t, s, "GET", "/pay/"+id+"?icons=1", nil)
	assert.Contains(t, body, `src="https://shop.example/i.png"`)
	assert.Contains(t, body, `src="https://shop.example/n.png?a=1&amp;b=2"`)
	assert.Equal(t, 2, strings.Count(body, `referrerpolicy="no-referrer"`))
	assert.Contains(t, resp.Header.Get("Content-Security-Policy"), "img-src 'self' data: https:")
	_, body = browse(t, s, "GET", "/pay/"+create(t, s, "")+"?icons=1", nil)
	assert.NotContains(t, body, "other sites", "a page without icons says nothing of them")
}

// TestCheckoutFragment: the part that changes is rendered from the same template.
func TestCheckoutFragment(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	id := create(t, s, "")
	_, whole := browse(t, s, "GET", "/pay/"+id, nil)
	resp, part := browse(t, s, "GET", "/pay/"+id, nil, "X-Fragment", "1")
	assert.NotContains(t, part, "<html")
	assert.Contains(t, whole, part)
	assert.Contains(t, resp.Header.Get("Vary"), "X-Fragment")
}
