package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// raw is a page as it is sent.
func (v *visitor) raw(path string) string {
	v.t.Helper()
	resp, err := v.client.Get(v.url + path)
	require.NoError(v.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	return string(body)
}

// TestContactMissing: nobody orders without saying how to be reached. The cart says what is
// wrong, and keeps what was typed.
func TestContactMissing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v := w.visitor()
		for _, c := range []struct{ typed, says, ko string }{
			{"", "Please say how we can reach you.", "연락처를 적어 주세요."},
			{" \n\t\u3000", "Please say how we can reach you.", "연락처를 적어 주세요."},
			{"\u202e\u200b\x00", "Please say how we can reach you.", "연락처를 적어 주세요."},
			{strings.Repeat("한", maxContact+1), "Please use at most 200 characters.", "200자 이내로 적어 주세요."},
		} {
			id := uuid.NewString()
			form := fields("order", id, "count-tea", "3", "contact", c.typed)
			resp, body := v.post("/orders", form)
			require.Equal(t, http.StatusBadRequest, resp.StatusCode)
			require.Contains(t, body, c.says)
			require.Contains(t, body, `name="order" value="`+id+`"`)
			require.Contains(t, body, `name="count-tea" value="3"`)
			require.Contains(t, body, `name="contact" value="`+strings.TrimSpace(strings.Map(printable, c.typed))+`"`)
			require.Contains(t, v.get("/cart"), `value="3"`, "the cart keeps it")
			_, body = v.post("/orders?lang=ko", form)
			require.Contains(t, body, c.ko)
			v.get("/?lang=en")
			resp, err := v.client.Get(w.url + "/orders/" + id)
			require.NoError(t, err)
			read(t, resp)
			require.Equal(t, http.StatusNotFound, resp.StatusCode, "nothing is ordered")
		}
		require.Empty(t, w.mock.Payments())
		id := uuid.NewString()
		v.done("/orders", "order", id, "count-tea", "1", "contact", "  "+strings.Repeat("한", maxContact)+"\r\n")
		o, err := w.shop.order(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("한", maxContact), o.Contact)
	})
}

// TestContactShown: the shopkeeper sees the contact wherever there is something to deliver, to
// decide or to give back, and nobody else does.
func TestContactShown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.visitor(), w.keeper()
		const contact = `<b id="x">mina@example.com & co`
		order := func(count int) (id, payToken string) {
			t.Helper()
			id = uuid.NewString()
			v.done("/orders", "order", id, "count-tea", fmt.Sprint(count), "contact", contact)
			return id, v.payment(id)
		}
		shown := func(path string) {
			t.Helper()
			keeper.shows(path, contact)
			require.NotContains(t, keeper.raw(path), `<b id="x">`)
		}
		paidID, payToken := order(1)
		w.pay(payToken, 0)
		v.shows("/orders/"+paidID, "Paid. Thank you!")
		shown("/office")
		_, less := order(2)
		w.pay(less, 100)
		shown("/office/review")
		keeper.done("/office/review", "key", less, "do", "reject", "reason", "too little")
		shown("/office/owed")

		lost, payToken := order(1)
		rename := `UPDATE orders SET id = $2 WHERE id = $1`
		_, err := w.shop.db.write.ExecContext(t.Context(), rename, lost, "lost") // so the handler gives up
		require.NoError(t, err)
		w.pay(payToken, 0)
		keeper.shows("/office/failed", payToken)
		_, err = w.shop.db.write.ExecContext(t.Context(), rename, "lost", lost)
		require.NoError(t, err)
		shown("/office/failed")

		for _, path := range []string{"/orders/" + paidID, "/orders/" + paidID + "/receipt", "/orders", "/cart"} {
			require.NotContains(t, v.get(path), "mina@example.com", path)
		}
	})
}

// TestContactByKeyboard: the field is found by its label and by the tabulator, and says what
// is wrong, on a phone.
func TestContactByKeyboard(t *testing.T) {
	t.Parallel()
	w := start(t)
	page := chrome.Start(t).Open(t, chrome.Options{Width: 360, Lang: "ko", NoScript: true, Statuses: []int{400}})
	page.Go(w.url)
	page.Submit(".card:nth-child(1) button")
	page.Audit()
	page.Fill("#contact", "\u200b") // nobody can see it, but the browser takes it for something
	page.Submit("#place")
	page.WaitText("#contact-wrong", "연락처를 적어 주세요.")
	page.Audit()
	page.Screenshot("webshop-contact-ko")
	page.Fill("#contact", testContact)
	page.Submit("#place")
	page.WaitText(".big", "입금을 기다립니다")
}
