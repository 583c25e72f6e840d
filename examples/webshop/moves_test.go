package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/payments"
)

// TestOrderPage: customers look at their orders while money comes late, twice, too little or
// in vain, each to its end, in both languages, on a wide screen and on a phone. The page
// tells of it by itself, and nothing on it moves.
func TestOrderPage(t *testing.T) {
	t.Parallel()
	whole, browser := start(t), chrome.Start(t)
	for _, lang := range []string{"en", "ko"} {
		for _, size := range [][2]int64{{360, 740}, {1000, 800}} {
			t.Run(fmt.Sprint(lang, size[0]), func(t *testing.T) {
				t.Parallel()
				w := *whole
				w.t = t
				s := &sight{world: &w, browser: browser, options: chrome.Options{Lang: lang, Width: size[0], Height: size[1]}}
				s.twice()
				s.late()
				s.under()
				if size[0] == 360 {
					s.givenUp()
					s.soldOut()
					s.afterCancel()
				}
			})
		}
	}
}

// sight is a customer's page of one order, on one kind of screen.
type sight struct {
	*world
	*chrome.Page
	browser      *chrome.Browser
	options      chrome.Options
	id, payToken string
	before       map[string]float64 // where the parts of the page are
}

// order places an order and opens its page.
func (s *sight) order(product string, count int) {
	s.t.Helper()
	s.id, s.payToken = s.visitor().order(product, count)
	s.Page = s.browser.Open(s.t, s.options)
	s.load("waiting")
}

// load opens the page again, which begins again.
func (s *sight) load(state string) {
	s.t.Helper()
	s.Go(s.url + "/orders/" + s.id)
	var ok bool
	s.Eval(drawn, &ok)
	s.Eval(watchShifts, &ok)
	s.before = nil
	s.becomes(state)
}

// parts is where each part of the page begins, and how long the page is.
const parts = `(() => {
	const found = { page: document.documentElement.scrollHeight };
	for (const e of document.querySelectorAll("body > *, main > *, main > section > *, #live [id]")) {
		const name = e.id || e.className || e.tagName;
		found[name] = e.getBoundingClientRect().top + scrollY;
	}
	return found;
})()`

// becomes waits until the page shows a state and some texts, with all its parts where they
// were.
func (s *sight) becomes(state string, texts ...string) {
	s.t.Helper()
	s.Wait(`document.querySelector("[data-state=` + state + `]")`)
	for _, text := range texts {
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
	if !pictures { // a picture moves much
		require.Empty(s.t, moved, state)
	}
	s.look(fmt.Sprint(state, "-", len(texts)))
}

// look looks at a page on the phone.
func (s *sight) look(name string) {
	s.t.Helper()
	if s.options.Width == 360 {
		s.Audit()
		picture(s.Page, "webshop-order-"+name+"-"+s.options.Lang)
	}
}

// pictures reports whether somebody wants to look at the pages: pictures take the browser
// longer than the tests.
var pictures = os.Getenv("DEPOSITPAY_TEST_SCREENS") != ""

// picture keeps a picture of a page if they are wanted.
func picture(page *chrome.Page, name string) {
	if pictures {
		page.Screenshot(name)
	}
}

// in is the text of the language on the page.
func (s *sight) in(key string, args ...any) string { return text(langOf(s.options.Lang), key, args...) }

func (s *sight) won(won int64) string { return money(langOf(s.options.Lang), won) }

// twice gets a second link, pays both, and gets the second sum back.
func (s *sight) twice() {
	s.order("spoon", 1)
	s.Submit("#again")
	s.load("waiting")
	var second string
	s.Eval(`document.getElementById("pay").href.split("/").pop()`, &second)
	require.NotEqual(s.t, s.payToken, second)
	s.load("waiting")
	s.pay(s.payToken, 0)
	s.becomes("paid")
	s.pay(second, 0)
	s.becomes("paid", s.in("deposit.paid_twice", s.won(19_000)), s.in("owed", s.won(19_000)))
	s.sendBack(second)
	moved, _, _ := strings.Cut(s.in("returned", s.won(19_000), "|"), "|")
	s.becomes("paid", moved)
	s.Submit("#receipt")
	s.WaitText("dd", "19,000")
}

// sendBack plays the shopkeeper who has sent the money of a payment back.
func (s *sight) sendBack(payment string) {
	s.t.Helper()
	keeper := s.browser.Open(s.t, s.options)
	keeper.Go(s.url + "/office/login")
	keeper.Fill("#name", "미나")
	keeper.Fill("#password", testPassword)
	keeper.Submit("#enter")
	keeper.Go(s.url + "/office/owed")
	keeper.Submit(`form:has(input[value="` + payment + `"]) button`)
}

// late pays when the time to pay is over.
func (s *sight) late() {
	s.order("cup", 1)
	s.alter(`UPDATE orders SET deadline = 1 WHERE id = $1`)
	s.becomes("expired")
	s.pay(s.payToken, 0)
	s.becomes("paid")
	s.Submit("#receipt")
	s.WaitText("dd", "28,000")
	s.look("receipt")
}

// under pays too little, which the shopkeeper rejects.
func (s *sight) under() {
	s.order("notebook", 2)
	s.pay(s.payToken, 23_000)
	s.becomes("checking", s.won(23_000), s.won(24_000))
	s.keeper().done("/office/review", "key", s.payToken, "do", "reject", "reason", "1,000 are missing")
	s.becomes("rejected", s.in("deposit.rejected", s.won(23_000)), s.in("owed", s.won(23_000)))
}

// givenUp pays what is approved, and then cannot be booked.
func (s *sight) givenUp() {
	s.order("tea", 1)
	s.comes(payments.Payment{ID: uuid.MustParse(s.payToken), Identifier: s.id}, "9000.5")
	s.becomes("checking")
	require.NoError(s.t, s.shop.box.Approve(s.t.Context(), s.payToken, inbox.Decision{Actor: "Jun", Reason: "not by our pages"}))
	s.becomes("attention")
}

// soldOut pays when the goods have gone.
func (s *sight) soldOut() {
	s.order("tea", 1)
	s.alter(`UPDATE order_lines SET count = 9999 WHERE order_id = $1`)
	s.pay(s.payToken, 0)
	s.becomes("sold_out", s.in("owed", s.won(9_000)))
}

// afterCancel pays an order that is cancelled.
func (s *sight) afterCancel() {
	s.order("cup", 1)
	s.Submit("#cancel")
	s.pay(s.payToken, 0)
	s.visitor().shows("/orders/"+s.id, "₩28,000 came after the order was cancelled.")
	s.load("cancelled")
	s.WaitText(".deposit", s.in("owed", s.won(28_000)))
}

// alter changes something about the order behind the shop's back.
func (s *sight) alter(statement string) {
	s.t.Helper()
	_, err := s.shop.db.write.ExecContext(s.t.Context(), statement, s.id)
	require.NoError(s.t, err)
}
