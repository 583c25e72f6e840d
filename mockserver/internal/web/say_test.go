package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, text, ko, en string }{
		{"", "answered HTTP 500, only 200 counts", "HTTP 500 응답을 받았습니다. 200만 성공입니다.", "The receiver responded with HTTP 500; only 200 counts."},
		{"", "dial tcp 127.0.0.1:9: connect: connection refused", "연결이 거부되었습니다. 수신 프로그램이 실행 중인지 확인하세요. (dial tcp 127.0.0.1:9: connect: connection refused)",
			"The connection was refused. Is the receiver running? (dial tcp 127.0.0.1:9: connect: connection refused)"},
		{"", "drop-after: dropped after the commit", "drop-after: 처리한 뒤 연결을 끊음", "drop-after: done, then dropped"},
		{"", "dead-uri", "dead-uri · 웹훅: 받는 곳 없음", "dead-uri · webhook: nothing listens"},
		{"", "something new", "something new", "something new"},
		{"payer", "김 will pay 10 will pay 10000", "\u2068김 will pay 10\u2069 이름으로 10,000원을 입금할 예정입니다.", "\u2068김 will pay 10\u2069 will pay ₩10,000."},
		{"deposit", "somebody paid 5 by DEPOSIT", "입금자 이름 없이 5원이 입금되었습니다. (DEPOSIT)", "Somebody paid ₩5 (DEPOSIT)."},
		{"deposit", "a\nb paid 5 by CULTURE", "\u2068a\nb\u2069 이름으로 5원이 입금되었습니다. (CULTURE)", "\u2068a\nb\u2069 paid ₩5 (CULTURE)."},
		{"webhook", "attempt 2 of 10: no answer within 10s", "2/10번째 시도: 10초 안에 응답이 없었습니다.", "Attempt 2 of 10: No response within 10 seconds."},
		{"payer", "attempt 2 of 10: no answer within 10s", "attempt 2 of 10: no answer within 10s", "attempt 2 of 10: no answer within 10s"},
		{"payer", "%s%d will pay 1", "\u2068%s%d\u2069 이름으로 1원을 입금할 예정입니다.", "\u2068%s%d\u2069 will pay ₩1."},
	} {
		say := SayEvent
		if c.kind == "" {
			say = func(lang Lang, _, text string) string { return Say(lang, text) }
		}
		assert.Equal(t, c.ko, say(Korean, c.kind, c.text))
		assert.Equal(t, c.en, say(English, c.kind, c.text))
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d      time.Duration
		ko, en string
	}{
		{-time.Second, "0초", "0s"},
		{1499 * time.Millisecond, "1초", "1s"},
		{1500 * time.Millisecond, "2초", "2s"},
		{5 * time.Minute, "5분", "5m"},
		{75*time.Hour + 35*time.Minute + 5*time.Second, "75시간 35분 5초", "75h 35m 5s"},
		{time.Hour + time.Second, "1시간 1초", "1h 1s"},
	} {
		assert.Equal(t, c.ko, Span(Korean, c.d))
		assert.Equal(t, c.en, Span(English, c.d))
	}
	due := time.UnixMilli(1_500).UTC()
	assert.Equal(t, `<span class="wait" data-due="1500">2초 후</span>`, string(wait(Korean)(Wait{Due: due, Left: 2 * time.Second})))
	assert.Equal(t, `<span class="wait" data-due="1500">now</span>`, string(wait(English)(Wait{Due: due, Left: -time.Second})))
}

// TestLocal: customers see times in their own time zone.
func TestLocal(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 12, 31, 15, 4, 5, 0, time.UTC)
	assert.Equal(t, `<time datetime="2025-12-31T15:04:05Z">2026년 1월 1일 00:04</time>`, string(local(Korean)(at)))
	assert.Equal(t, `<time datetime="2025-12-31T15:04:05Z">2026-01-01 00:04 KST</time>`, string(local(English)(at)))
	assert.Empty(t, local(English)(time.Time{}))
}
