package mockserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// keyboard is an operator without a mouse.
type keyboard struct {
	*testing.T
	*chrome.Page
}

// to presses the tab key until something that the selector means has the focus, which
// must be seen.
func (k keyboard) to(selector string) {
	k.Helper()
	for range 80 {
		k.Press("\t")
		var at, seen bool
		k.Eval(`document.activeElement.matches(`+"`"+selector+"`"+`)`, &at)
		if at {
			k.Eval(`getComputedStyle(document.activeElement).outlineStyle !== "none" && document.activeElement.getBoundingClientRect().height > 0`, &seen)
			assert.True(k, seen, "%s: the focus cannot be seen", selector)
			return
		}
	}
	require.Fail(k, "the tab key never gets to "+selector+" on "+k.URL())
}

// press goes to a button or a link, presses enter and waits for the page that follows.
func (k keyboard) press(selector string) {
	k.Helper()
	k.to(selector)
	var marked bool
	k.Eval(`window.leaving = true`, &marked)
	k.Press("\r")
	k.Wait(`!window.leaving && document.readyState === "complete"`)
}

func (k keyboard) enter(selector, text string) {
	k.Helper()
	k.to(selector)
	for _, r := range text {
		k.Press(string(r))
	}
}

// TestBrowserOperator: a Korean operator without a mouse makes a product, buys it, plays the
// bank, sees the webhook fail at an address where nobody listens, and see it delivered at
// the next attempt, to which the clock jumps.
func TestBrowserOperator(t *testing.T) {
	t.Parallel()
	hook, answer := merchant(t)
	s := dashServer(t)
	require.NoError(t, s.SetWebhook(s.Token(), "http://127.0.0.1:1/hook"))
	k := keyboard{t, browser(t).Open(t, chrome.Options{Lang: "ko", Width: 1000, Height: 800})}
	k.Go(s.URL() + "/_mock/")
	k.press(`.sections a[href="/_mock/ui/store"]`)
	k.enter("#product-name", "sword")
	k.enter("#product-price", "10000")
	k.press("button[value=product]")
	k.WaitText(".notice", "상품을 저장했습니다")
	k.press(`.filter a[href="/_mock/ui/users"]`)
	k.enter("#user-name", "Minsu")
	k.press("button[value=user]")
	k.press(`.filter a[href="/store/"]`)
	k.press(".product button")
	k.enter("#payer", "Kim")
	k.press("#payer-form button")
	k.WaitText("#status", "아래 계좌로 입금해 주세요")
	k.press(`.bottom a[href="/_mock/"]`)
	k.press(`.sections a[href="/_mock/ui/phone"]`)
	k.enter("#notify-payer", "Kim")
	k.enter("#notify-amount", "10000")
	k.press("button[value=notify]")
	k.WaitText(".notice", "결제와 일치했습니다")
	k.press(`.sections a[href="/_mock/ui/deliveries"]`)
	k.WaitText(".attempts", "응답 없음")
	k.WaitText(".next", "5초 후")
	k.to(".attempts summary")
	k.Press("\r")
	k.WaitText(".bad-text", "연결이 거부되었습니다")
	shoot(k.Page, "operator-ko-1-failed")

	// The operator fixes the address. A run under way keeps its own, so it is sent again.
	answer.Store(http.StatusOK)
	require.NoError(t, s.SetWebhook(s.Token(), hook))
	k.press("button[value=resend]")
	k.WaitText(".badge", "전송됨")
	answer.Store(http.StatusServiceUnavailable)
	k.press("button[value=resend]")
	k.WaitText(".attempts", "HTTP 503")
	answer.Store(http.StatusOK)
	k.press("button[value=jump]")
	k.WaitText(".notice", "웹훅이 전송되었습니다")
	k.WaitText(".badge", "전송됨")
	shoot(k.Page, "operator-ko-2-delivered")
	assert.Equal(t, start.Add(5*time.Second), s.Now())

	// Trouble is set and ended.
	k.press(`.sections a[href="/_mock/ui/faults"]`)
	k.press("button[value=fault]")
	k.WaitText(".notice", "규칙을 추가했습니다")
	k.enter("#chance-rate", "0.1")
	k.press("button[value=chance]")
	k.WaitText("#form-chance-end", "rate=0.1")
	shoot(k.Page, "operator-ko-3-faults")
	k.press("button[value=fault-remove]")
	k.press("button[value=chance-end]")
	assert.Empty(t, s.Faults().Rules)
	assert.Zero(t, s.Faults().Rate)
}

// TestBrowserUnmatched: a deposit of nobody's appears on the open page, and a person gives
// it to the right one of two payments.
func TestBrowserUnmatched(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	k := keyboard{t, browser(t).Open(t, chrome.Options{Lang: "ko", Width: 360, Height: 740, Statuses: []int{422}})}
	k.Go(s.URL() + "/_mock/ui/unmatched")
	k.WaitText("main", "사람의 확인을 기다리는 입금이 없습니다")
	shoot(k.Page, "unmatched-ko-1-empty")
	a, b := create(t, s, `"amount":7000`), create(t, s, `"amount":7000`)
	for _, id := range []string{a, b} {
		_, err := s.GivePayer(id, "이영희", 0)
		require.NoError(t, err)
	}
	_, err := s.SendNotification("com.kbstar.kbbank", "이영희", 7000)
	require.NoError(t, err)
	k.WaitText("h2", "7,000원 · 이영희") // without loading the page again
	k.press("button[value=assign]")
	k.WaitText(".error", "후보를 고르거나")
	shoot(k.Page, "unmatched-ko-2-refused")
	k.Click(`input[type=radio][value="` + b + `"]`)
	k.press("button[value=assign]")
	k.WaitText(".notice", "이 결제에 배정했습니다")
	assert.True(t, strings.HasSuffix(k.URL(), "/_mock/ui/payments/"+b), k.URL())
	shoot(k.Page, "unmatched-ko-3-assigned")
	p, _ := s.Payment(b)
	assert.Equal(t, mockserver.StatusProgress, p.Status)
	assert.Empty(t, s.Unmatched())
}
