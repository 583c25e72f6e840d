package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestApprove: the shopkeeper signs in and approves a payment from review, in both
// languages, while the customer looks at the order.
func TestApprove(t *testing.T) {
	t.Parallel()
	browser := chrome.Start(t)
	for _, c := range []struct {
		lang, under, paid string
		width             int64
	}{
		{"ko", "주문 금액보다 적게 입금되었습니다", "결제되었습니다. 고맙습니다!", 1000},
		{"en", "Less was paid than the order costs", "Paid. Thank you!", 360},
	} {
		t.Run(c.lang, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			v := w.visitor()
			id, payToken := v.order("notebook", 2)
			customer := browser.Open(t, chrome.Options{Lang: c.lang})
			customer.Go(w.url + "/orders/" + id)
			w.pay(payToken, 23_000)
			customer.Wait(`document.querySelector("[data-state=checking]")`)
			customer.Audit()

			keeper := browser.Open(t, chrome.Options{Lang: c.lang, Width: c.width, Dark: c.width == 360, Statuses: []int{403}})
			look := func(name string) {
				t.Helper()
				keeper.Audit()
				picture(keeper, "webshop-office-"+name+"-"+c.lang)
			}
			keeper.Go(w.url + "/office/review")
			keeper.Fill("#name", "미나")
			keeper.Fill("#password", "not "+testPassword)
			keeper.Submit("#enter")
			look("1-login")
			keeper.Fill("#name", "미나")
			keeper.Fill("#password", testPassword)
			keeper.Submit("#enter")
			look("2-orders")
			keeper.Submit(`.tabs a[href="/office/review"]`)
			keeper.WaitText(".held h2", c.under)
			look("3-review")
			keeper.Fill(".held input[name=reason]", "단골손님")
			keeper.Submit(".held button[value=approve]")
			customer.WaitText(".big", c.paid)
			for _, name := range []string{"failed", "owed", "books"} {
				keeper.Submit(`.tabs a[href="/office/` + name + `"]`)
				keeper.Audit()
			}
			lines, err := w.shop.box.Audit(t.Context(), payToken)
			require.NoError(t, err)
			require.Len(t, lines, 1)
			require.Equal(t, "approve 미나 단골손님", strings.Join([]string{lines[0].Action, lines[0].Decision.Actor, lines[0].Decision.Reason}, " "))
		})
	}
}

// TestRunAgain: a payment whose handler gives up waits for the shopkeeper, who runs it
// again once the cause is fixed.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 1)
	broken := `UPDATE orders SET id = $2 WHERE id = $1` // the order cannot be found
	_, err := w.shop.db.write.ExecContext(t.Context(), broken, id, "lost")
	require.NoError(t, err)
	w.pay(payToken, 0)
	keeper.shows("/office/failed", "there is no order \""+id+"\"")
	_, err = w.shop.db.write.ExecContext(t.Context(), broken, "lost", id)
	require.NoError(t, err)
	v.shows("/orders/"+id, "We are looking at your order")
	keeper.done("/office/failed", "key", payToken, "do", "again", "reason", "the order is back")
	v.shows("/orders/"+id, "Paid. Thank you!")
	keeper.shows("/office/failed", "Every payment is booked.")
	require.EqualValues(t, 499, w.left("cup"))
}

// TestGiveBackFailed: money whose handler gave up goes back if the shopkeeper says so, and
// buys nothing once it has.
func TestGiveBackFailed(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 1)
	rename := `UPDATE orders SET id = $2 WHERE id = $1` // the order cannot be found
	_, err := w.shop.db.write.ExecContext(t.Context(), rename, id, "lost")
	require.NoError(t, err)
	w.pay(payToken, 0)
	keeper.shows("/office/failed", "List under “To give back”")
	resp, _ := keeper.post("/office/failed", fields("key", payToken, "do", "keep it", "reason", "x"))
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	keeper.done("/office/failed", "key", payToken, "do", "return", "reason", "nobody knows the order")
	require.Contains(t, keeper.get("/office/failed"), "Every payment is booked.")
	require.Contains(t, keeper.get("/office"), "<strong>0</strong> Not booked")
	resp, _ = keeper.post("/office/failed", fields("key", payToken, "do", "return", "reason", "once more"))
	require.Equal(t, http.StatusConflict, resp.StatusCode, "it was decided")
	keeper.shows("/office/owed", "Rejected: ₩28,000", "rejected by Mina: nobody knows the order")

	_, err = w.shop.db.write.ExecContext(t.Context(), rename, "lost", id)
	require.NoError(t, err)
	v.shows("/orders/"+id, "We could not accept your deposit", "We give ₩28,000 back to you.")
	resp, body := keeper.post("/office/failed", fields("key", payToken, "do", "again", "reason", "from a page of yesterday"))
	require.Equal(t, http.StatusConflict, resp.StatusCode, "somebody may be at the bank with it")
	require.Contains(t, body, `class="tabs"`, "the shopkeeper's menu stays")
	keeper.done("/office/owed", "payment", payToken, "won", "28000")
	require.NoError(t, w.shop.box.Retry(t.Context(), payToken, inbox.Decision{Actor: "Jun", Reason: "not by our pages"}))
	require.Eventually(t, func() bool { return w.only(inbox.StageDead) == payToken }, patience, tick)
	v.shows("/orders/"+id, "We could not accept your deposit", "₩28,000 was given back on")
	require.EqualValues(t, 500, w.left("cup"))
}

// TestOwedInTurn: who has waited longest is first, and on the page however many wait.
func TestOwedInTurn(t *testing.T) {
	t.Parallel()
	w := start(t)
	keeper := w.keeper()
	add := `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back, returned_at) VALUES ($1, '', $2, 'DEPOSIT', $3, 'rejected', $2, $4)`
	for n := range owedPage + 1 {
		returned := 0
		if n%2 == 1 {
			returned = 5000 + n
		}
		_, err := w.shop.db.write.ExecContext(t.Context(), add, fmt.Sprint("payment-", n), 1000+n, 1_000_000-n, returned)
		require.NoError(t, err)
	}
	page := keeper.get("/office/owed")
	first := strings.Index(page, "₩1,200")
	require.Positive(t, first, "the one that came first")
	for _, later := range []string{"₩1,198", "₩1,000", "₩1,199", "₩1,003"} { // the last two are given back
		next := strings.Index(page, later)
		require.Greater(t, next, first, later)
		first = next
	}
	require.NotContains(t, page, "₩1,001", "given back long ago")
}

// TestUnreadable: of what cannot be read, the shopkeeper says how much is to go back.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	w := start(t, func(cfg *settings) { cfg.HookSecret = "a-secret-that-nobody-calls" })
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), ""))
	keeper := w.keeper()
	_, payToken := w.visitor().order("tea", 1)
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "malformed", Every: 1})) // a "no payment" that is cut is no review
	w.pay(payToken, 0)
	keeper.shows("/office/review", "What was received cannot be read", "How many won came?")
	key := w.only(inbox.StageReview)
	for _, won := range []string{"", "-1", "many"} {
		resp, _ := keeper.post("/office/review", fields("key", key, "do", "reject", "reason", "x", "won", won))
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, won)
	}
	keeper.insists(key, "7000", "the dashboard says so")
	keeper.shows("/office/owed", "Rejected: ₩7,000", "rejected by Mina: the dashboard says so")
}

// TestPossibleLoss: a poll whose answer is lost is on the books until somebody settles it.
func TestPossibleLoss(t *testing.T) {
	t.Parallel()
	w := start(t, func(cfg *settings) { cfg.HookSecret = "a-secret-that-nobody-calls" })
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), ""))
	keeper := w.keeper()
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 1}))
	keeper.shows("/office/books", "What did you find?")
	body := keeper.get("/office/books")
	_, rest, found := strings.Cut(body, `name="loss" value="`)
	require.True(t, found)
	loss, _, _ := strings.Cut(rest, `"`)
	keeper.done("/office/losses", "loss", loss, "reason", "the dashboard has the same payments")
	keeper.shows("/office/books", "There are none.")
	require.Equal(t, "/office/books", keeper.done("/office/books"))
}
