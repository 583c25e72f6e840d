package mockserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestBrowserClock: a running clock is shown running with a countdown to its next event, and
// the page layout does not shift. A stopped clock does not move.
func TestBrowserClock(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t, mockserver.Config{
		Applications: hooked, WebhookTransport: answers(http.StatusInternalServerError), Clock: mockserver.NewAcceleratedClock(start, 10),
	})
	deposit(t, s, create(t, s, `"amount":5`), 5)
	require.Eventually(t, func() bool { return len(onlyDelivery(t, s).Attempts) == 2 }, patienceForBrowsers, tickOfBrowsers)
	browser := browser(t)
	page := browser.Open(t, chrome.Options{Lang: "ko", Width: 360, Height: 740})
	asked := s.Now().Truncate(time.Second)
	page.Go(s.URL() + "/_mock/ui/clock")
	page.Wait(`/^\d+분( \d+초)? 후$/.test(document.querySelector(".next .wait")?.textContent)`) // the third attempt, 5 minutes later
	var counted bool
	page.Eval(`(() => {
		window.moved = [];
		new PerformanceObserver((list) => moved.push(...list.getEntries().map((e) => e.value))).observe({ type: "layout-shift" });
		window.first = { now: document.querySelector(".now").innerText, left: document.querySelector(".next .wait").textContent, seen: new Set() };
		setInterval(() => first.seen.add(document.querySelector(".now").innerText + document.querySelector(".next .wait").textContent), 50);
		return true;
	})()`, &counted)
	page.Wait(`performance.getEntriesByType("resource").some((e) => e.initiatorType === "fetch" && e.responseEnd > 0)`) // the page has caught up
	requests := len(page.Requests())
	page.Wait(`first.seen.size > 8`)
	page.WaitText(".next .wait", "초 후")
	var moved []float64
	page.Eval(`moved`, &moved)
	assert.Empty(t, moved, "the page moves while the clock runs")
	assert.Len(t, page.Requests(), requests, "nobody is asked for the time")
	now, err := time.Parse("2006-01-02 15:04:05 MST", evalText(page, `document.querySelector(".now").innerText`))
	require.NoError(t, err)
	assert.True(t, !now.Before(asked) && !now.After(s.Now()), "it is the server's time: %s, from %s to %s", now, asked, s.Now())
	var shown []string
	page.Eval(`[".strip .running", ".now .running"].map((s) => document.querySelector(s).textContent)`, &shown)
	assert.Equal(t, shown[0], shown[1])
	shoot(page, "clock-ko-running")

	still := dashServer(t)
	page = browser.Open(t, chrome.Options{})
	page.Go(still.URL() + "/_mock/ui/clock")
	page.Eval(`(window.texts = new Set(), setInterval(() => texts.add(document.querySelector(".now").innerText), 50), true)`, &counted)
	var times []string
	page.Eval(`new Promise((done) => setTimeout(() => done([...texts]), 700))`, &times)
	assert.Equal(t, []string{"2025-03-01 12:00:00 UTC"}, times)
	still.Advance(time.Second)
	page.WaitText(".now", "2025-03-01 12:00:01 UTC")
}
