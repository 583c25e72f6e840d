package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// crowd places orders that nobody pays.
func (w *world) crowd(n int) {
	w.t.Helper()
	for range n {
		_, err := w.shop.place(w.t.Context(), uuid.New(), []line{{"cup", 28_000, 1}}, english, "a stranger")
		require.NoError(w.t, err)
	}
}

// TestCrowdedOffice: orders with money are on the first page, whatever strangers place. What
// waits for a decision is first. All orders are to be had, too.
func TestCrowdedOffice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.visitor(), w.keeper()
		require.Contains(t, keeper.get("/office"), "There is none.")
		paidID, payToken := v.order("tea", 1)
		w.pay(payToken, 0)
		v.shows("/orders/"+paidID, "Paid. Thank you!")
		waiting, less := v.order("cup", 1)
		cancelledID, late := v.order("cup", 1)
		v.done("/orders/" + cancelledID + "/cancel")
		w.now.add(1e9)
		w.crowd(3 * officePage)
		w.pay(less, 5)
		w.pay(late, 0)
		v.shows("/orders/"+waiting, "We are looking at your deposit")
		v.shows("/orders/"+cancelledID, "We give ₩28,000 back to you.")

		require.ElementsMatch(t, []string{waiting, cancelledID, paidID}, ordersOn(keeper.get("/office")))
		require.Equal(t, waiting, ordersOn(keeper.get("/office"))[0], "somebody has to decide")
		require.NotContains(t, keeper.get("/office"), "a stranger")
		seen := map[string]int{}
		path, pages := "/office?show=all", 0
		for ; path != ""; pages++ {
			page := keeper.get(path)
			require.LessOrEqual(t, len(ordersOn(page)), officePage)
			for _, id := range ordersOn(page) {
				seen[id]++
			}
			path = older(page)
		}
		require.Equal(t, 4, pages)
		require.Len(t, seen, 3*officePage+3, "each once")
		keeper.done("/office/review", "key", less, "do", "reject", "reason", "5 are not enough")
		require.ElementsMatch(t, []string{waiting, cancelledID, paidID}, ordersOn(keeper.get("/office")), "by the money on the books now")
	})
}

// TestFundedPages: the pages of orders with money hold each once, the newest money first,
// although much of it is of one second, and some is for one order.
func TestFundedPages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		keeper := w.keeper()
		add := `INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back) VALUES ($1, $2, 28000, 'DEPOSIT', $3, 'paid', 0)`
		want := map[string]bool{}
		for n := range 2*officePage + 7 {
			o, err := w.shop.place(t.Context(), uuid.New(), []line{{"cup", 28_000, 1}}, english, "")
			require.NoError(t, err)
			for range 1 + n%2 {
				_, err = w.shop.db.write.ExecContext(t.Context(), add, uuid.NewString(), o.ID, 1000+n/40)
				require.NoError(t, err)
			}
			_, err = w.shop.db.write.ExecContext(t.Context(), add, uuid.NewString(), "another shop's", 1000+n)
			require.NoError(t, err)
			want[o.ID] = true
		}
		w.crowd(3)
		pages := 0
		for path := "/office"; path != ""; pages++ {
			page := keeper.get(path)
			for _, id := range ordersOn(page) {
				require.True(t, want[id], "an order once, and only those with money")
				delete(want, id)
			}
			require.Equal(t, pages > 0, strings.Contains(page, "Back to the beginning"))
			path = older(page)
		}
		require.Empty(t, want)
		require.Equal(t, 3, pages)
		for _, bad := range []string{"x", "1", "x.y", ".", "99999999999999999999.a"} {
			resp, err := keeper.client.Get(w.url + "/office?before=" + bad)
			require.NoError(t, err)
			read(t, resp)
			require.Equal(t, http.StatusBadRequest, resp.StatusCode, bad)
		}
		keeper.get("/office?before=5.%00%ff")
	})
}

// TestOfficePages: the shopkeeper turns the pages without scripts, on a phone.
func TestOfficePages(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.crowd(officePage + 1)
	id, payToken := w.visitor().order("tea", 1)
	w.pay(payToken, 0)
	w.visitor().shows("/orders/"+id, "Paid. Thank you!")
	page := chrome.Start(t).Open(t, chrome.Options{Lang: "ko", Width: 360, NoScript: true})
	page.Go(w.url + "/office")
	page.Fill("#name", "미나")
	page.Fill("#password", testPassword)
	page.Submit("#enter")
	page.WaitText("h2", "입금된 주문")
	page.Audit()
	page.Screenshot("webshop-office-funded-ko")
	page.Submit(`a[href="/office?show=all"]`)
	page.WaitText("h2", "모든 주문")
	page.Submit("#older")
	page.WaitText("main", "처음으로")
	page.Audit()
	page.Screenshot("webshop-office-older-ko")
}

// TestOfficePlans: neither database reads more than a page shows and than what is open.
func TestOfficePlans(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		postgres := w.shop.db.ledger == nil
		if postgres {
			w.years()
		}
		for _, c := range []struct {
			query, index string
			args         []any
		}{
			{selectEvery, "orders_by_key", []any{int64(1e9), "x", officePage}},
			{selectFunded, "deposits_by_time", []any{int64(1e9), "x", officePage}},
			{strings.ReplaceAll(selectPaidBy, "{payments}", list(2)), "pay_links", []any{"p7", "p8"}},
			{`SELECT payment, amount FROM deposits WHERE payment IN ` + list(2), "deposits_pkey|sqlite_autoindex_deposits", []any{"p7", "p8"}},
			{countOwed, "deposits_to_return", nil},
			{selectOwed, "deposits_to_return", []any{owedPage}},
			{selectReturned, "deposits_returned", []any{owedPage}},
			{selectFound, "contacts_by_contact", foundArgs("12345678")},
			{selectFound, "pay_links", foundArgs("x")},
		} {
			plan := w.plan(c.query, c.args...)
			require.Regexp(t, c.index, plan, c.query)
			for _, whole := range []string{"Seq Scan on depositpay", "Seq Scan on orders", "Seq Scan on deposits", "Seq Scan on pay_links"} {
				require.NotContains(t, plan, whole, "%s\n%s", c.query, plan)
			}
			require.NotRegexp(t, `(?m)^SCAN \w+$`, plan, c.query)
		}
	})
}

// plan is how the database reads what a query asks for.
func (w *world) plan(query string, args ...any) string {
	w.t.Helper()
	explain, columns := "EXPLAIN QUERY PLAN ", 4
	if w.shop.db.ledger == nil {
		explain, columns = "EXPLAIN ", 1
	}
	rows, err := w.shop.db.read.QueryContext(w.t.Context(), explain+query, args...)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, rows.Close()) }()
	var plan strings.Builder
	for rows.Next() {
		row := make([]any, columns)
		for i := range row {
			row[i] = new(any)
		}
		require.NoError(w.t, rows.Scan(row...))
		plan.WriteString(fmt.Sprint(*row[columns-1].(*any)) + "\n")
	}
	require.NoError(w.t, rows.Err())
	return plan.String()
}

// years puts rows into the tables, as a shop has them after a while, so that PostgreSQL does
// not think that reading them whole is as good.
func (w *world) years() {
	w.t.Helper()
	for _, statement := range []string{
		`INSERT INTO orders (id, status, total, lang, created_at, deadline) SELECT 'o'||n, 'open', 1, 'en', n, n FROM generate_series(1, 20000) n`,
		`INSERT INTO pay_links (payment, order_id) SELECT 'p'||n, 'o'||n FROM generate_series(1, 20000) n`,
		`INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back)
			SELECT 'p'||n, 'o'||n, 1, 'DEPOSIT', n, 'paid', 0 FROM generate_series(1, 10000) n`,
		`INSERT INTO deposits (payment, order_id, amount, method, verified_at, outcome, give_back, returned_at, returned_by)
			SELECT 'r'||n, 'o'||n, 1, 'DEPOSIT', n, 'rejected', 1, n, 'Mina' FROM generate_series(1, 10000) n`,
		`INSERT INTO contacts (order_id, contact) SELECT 'o'||n, '010-'||n FROM generate_series(1, 20000) n`,
		`ANALYZE`,
	} {
		_, err := w.shop.db.write.ExecContext(w.t.Context(), statement)
		require.NoError(w.t, err)
	}
}

var (
	rowOfOrder = regexp.MustCompile(`<th scope="row"><a href="/office/orders/([0-9a-f-]{36})">`)
	toOlder    = regexp.MustCompile(`id="older" rel="next" href="([^"]+)"`)
)

// ordersOn are the orders of a page of the back office, in turn.
func ordersOn(page string) (ids []string) {
	for _, m := range rowOfOrder.FindAllStringSubmatch(page, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// older is the address of the next page; empty if there is none.
func older(page string) string {
	if m := toOlder.FindStringSubmatch(page); m != nil {
		return m[1]
	}
	return ""
}

// TestOfficeOrder: the shopkeeper finds an order by its number, a payment or the contact, sees
// it with both, and marks it sent once, which the customer reads.
func TestOfficeOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.visitor(), w.keeper()
		id, payToken := v.order("tea", 1)
		v.order("cup", 1)
		at := "/office/orders/" + id
		resp, err := w.visitor().client.Get(w.url + at)
		require.NoError(t, err)
		read(t, resp)
		require.Equal(t, "/office/login", resp.Header.Get("Location"), "for the shopkeeper alone")
		require.NotContains(t, keeper.get(at), "I have sent the goods", "it is not paid")
		refused, _ := keeper.post(at+"/sent", nil)
		require.Equal(t, http.StatusConflict, refused.StatusCode)

		w.pay(payToken, 0)
		v.shows("/orders/"+id, "Paid. Thank you!", "We will send your goods soon.")
		keeper.shows(at, testContact, payToken, "I have sent the goods")
		for _, q := range []string{id[:8], strings.ToUpper(id[:8]), id, payToken} {
			require.Equal(t, []string{id}, ordersOn(keeper.get("/office?q="+q)), q)
		}
		require.Len(t, ordersOn(keeper.get("/office?q=01012345678")), 2, "hyphens do not count")
		require.Contains(t, keeper.get("/office?q=0101234567"), "There is none.")
		keeper.get("/office?q=%00%ff%27")

		require.Equal(t, at, keeper.done(at+"/sent"))
		refused, _ = keeper.post(at+"/sent", nil)
		require.Equal(t, http.StatusConflict, refused.StatusCode, "once")
		keeper.shows(at, "Sent by Mina on")
		require.Contains(t, keeper.get("/office?q="+id), `<span class="badge ok">Sent</span>`)
		v.shows("/orders/"+id, "We sent your goods on")
		require.NotContains(t, v.get("/orders/"+id), "Mina")
	})
}

// TestOfficeOrderPage: search, page and button work without scripts, on a phone.
func TestOfficeOrderPage(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	id, payToken := v.order("tea", 1)
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	page := chrome.Start(t).Open(t, chrome.Options{Lang: "ko", Width: 360, NoScript: true})
	page.Go(w.url + "/office/login")
	page.Fill("#name", "미나")
	page.Fill("#password", testPassword)
	page.Submit("#enter")
	page.Fill("#q", "010 1234 5678")
	page.Submit("#find")
	page.WaitText("h2", "찾은 주문")
	page.Audit()
	page.Screenshot("webshop-office-found-ko")
	page.Submit("#orders th a")
	page.WaitText("dd", testContact)
	page.Submit("#sent")
	page.WaitText("main", "미나 님이 보냄")
	page.Audit()
	page.Screenshot("webshop-office-order-ko")
}
