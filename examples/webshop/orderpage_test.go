package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// TestOrderPage: the open order page shows each state by itself, in both languages, on a wide screen and
// on a phone, and nothing on it moves.
func TestOrderPage(t *testing.T) {
	t.Parallel()
	shared, browser := start(t), chrome.Start(t)
	for _, lang := range []lang{english, korean} {
		for _, width := range []int64{360, 1000} {
			t.Run(fmt.Sprint(lang, width), func(t *testing.T) {
				t.Parallel()
				w := *shared
				w.t = t
				s := &sight{world: &w, lang: lang, browser: browser, width: width}
				s.twice()
				s.late()
				s.under()
				s.soldOut()
				s.cancelled()
			})
		}
	}
}

// sight is a customer's page of one order, on one kind of screen.
type sight struct {
	*world
	*chrome.Page
	lang         lang
	browser      *chrome.Browser
	width        int64
	id, payToken string
	before       map[string]float64 // where the parts of the page are
}

// order places an order and opens its page.
func (s *sight) order(product string, count int) {
	s.t.Helper()
	s.id = uuid.NewString()
	v := s.customer()
	v.sends("/orders", "order", s.id, "count-"+product, fmt.Sprint(count), "lang", s.lang.String())
	s.payToken = v.payment(s.id)
	s.Page = s.browser.Open(s.t, chrome.Options{Lang: "fr", Width: s.width, Height: 740})
	s.load("waiting")
}

// load opens the page again.
func (s *sight) load(state string) {
	s.t.Helper()
	s.Go(s.url + "/orders/" + s.id)
	var ok bool
	s.Eval(drawn, &ok)
	s.Eval(watchShifts, &ok)
	s.before = nil
	s.becomes(state)
}

const (
	// parts is where each part of the page begins, and how long the page is.
	parts = `(() => {
	const found = { page: document.documentElement.scrollHeight };
	for (const e of document.querySelectorAll("body > *, main > *, main > section > *, #live [id]")) {
		found[e.id || e.className || e.tagName] = e.getBoundingClientRect().top + scrollY;
	}
	return found;
})()`
	// watchShifts records which parts of the page move from now on, and how far.
	watchShifts = `window.shifts = []; new PerformanceObserver((list) => {
	for (const e of list.getEntries()) window.shifts.push(e.value.toFixed(4) + ": " +
		e.sources.map((s) => (s.node?.outerHTML ?? s.node?.textContent ?? "").trim().slice(0, 80)).join("; "));
}).observe({ type: "layout-shift" }); true`
	// drawn waits until the page is drawn, with its fonts; shifts are what moved until then.
	drawn = `document.fonts.ready.then(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`
	shifts = drawn + `.then(() => window.shifts)`
)

// becomes waits until the page shows a state and some texts, with every part where it was.
func (s *sight) becomes(state string, texts ...string) {
	s.t.Helper()
	s.Wait(`document.querySelector("[data-state=` + state + `]")`)
	for _, text := range append(texts, s.in(state)) {
		s.WaitText("#live", text)
	}
	var moved []string
	s.Eval(shifts, &moved)
	var now map[string]float64
	s.Eval(parts, &now)
	for part, at := range now {
		if was, there := s.before[part]; there {
			require.InDelta(s.t, was, at, 0.5, "%s: %s has moved", state, part)
		}
	}
	s.before = now
	if !pictures { // taking a picture moves much
		require.Empty(s.t, moved, state)
	}
	s.Audit()
	picture(s.Page, fmt.Sprintf("webshop-order-%s-%d-%s-%d", state, len(texts), s.lang, s.width))
}

// pictures reports whether somebody wants to look at the pages.
var pictures = os.Getenv("DEPOSITPAY_TEST_SCREENS") != ""

func picture(page *chrome.Page, name string) {
	if pictures {
		page.Screenshot(name)
	}
}

// in is a text in the language of the page.
func (s *sight) in(key string, args ...any) string { return text(s.lang, key, args...) }

func (s *sight) won(won int64) string { return money(s.lang, won) }

// twice gets a second link and pays both.
func (s *sight) twice() {
	s.order("spoon", 1)
	s.Submit("#again")
	s.load("waiting")
	var second string
	s.Eval(`document.getElementById("pay").href.split("/").pop()`, &second)
	require.NotEqual(s.t, s.payToken, second)
	s.pay(s.payToken, 0)
	s.becomes("paid")
	s.pay(second, 0)
	s.becomes("paid", s.in("deposit.paid_twice", s.won(19_000)), s.in("owed", s.won(19_000)))
}

// late pays after the deadline.
func (s *sight) late() {
	s.order("cup", 1)
	s.alter(`UPDATE orders SET deadline = 1 WHERE id = $1`, s.id)
	s.becomes("expired")
	s.pay(s.payToken, 0)
	s.becomes("paid")
}

// under pays too little, which the office rejects.
func (s *sight) under() {
	s.order("notebook", 2)
	s.pay(s.payToken, 23_000)
	s.becomes("checking", s.in("checking.advice", s.won(23_000), s.won(24_000)))
	s.keeper().decides("reject", s.payToken, "1,000 are missing")
	s.becomes("rejected", s.in("deposit.rejected", s.won(23_000)), s.in("owed", s.won(23_000)))
}

// soldOut pays when the goods are gone.
func (s *sight) soldOut() {
	s.order("tea", 1)
	s.alter(`UPDATE order_lines SET count = 9999 WHERE order_id = $1`, s.id)
	s.pay(s.payToken, 0)
	s.becomes("sold_out", s.in("owed", s.won(9_000)))
}

// cancelled pays an order that is cancelled.
func (s *sight) cancelled() {
	s.order("cup", 1)
	s.Submit("#cancel")
	s.load("cancelled")
	s.pay(s.payToken, 0)
	s.becomes("cancelled", s.in("deposit.after_cancel", s.won(28_000)), s.in("owed", s.won(28_000)))
}
