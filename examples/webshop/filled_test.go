package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// TestOfficeFilled: the pages of the back office with all that can wait for a shopkeeper on
// them, on a phone.
func TestOfficeFilled(t *testing.T) {
	t.Parallel()
	w := start(t, func(cfg *settings) { cfg.HookSecret = "a-secret-that-nobody-calls" })
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), "")) // for a loss, the poller has to hear first
	w.fill()
	browser := chrome.Start(t)
	for _, lang := range []string{"en", "ko"} {
		page := browser.Open(t, chrome.Options{Lang: lang, Width: 360, Height: 740})
		page.Go(w.url + "/office/login")
		page.Fill("#name", "미나")
		page.Fill("#password", testPassword)
		page.Submit("#enter")
		for _, c := range []struct{ name, filled string }{
			{"review", ".held button[value=reject]"},
			{"failed", ".held button[value=again]"},
			{"owed", "input[name=payment] ~ button"},
			{"books", "#losses input[name=reason]"},
		} {
			page.Go(w.url + "/office/" + c.name)
			require.True(t, page.Has(c.filled), "%s has something that waits", c.name)
			page.Audit()
			picture(page, "webshop-office-4-"+c.name+"-"+lang)
		}
	}
}

// fill leaves something on every page of the back office.
func (w *world) fill() {
	w.t.Helper()
	v, keeper := w.visitor(), w.keeper()
	paid := func(id, payToken, amount string) {
		w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, amount)
	}

	id, payToken := v.order("cup", 1)
	_, err := w.shop.db.write.ExecContext(w.t.Context(), `UPDATE orders SET id = 'lost' WHERE id = $1`, id)
	require.NoError(w.t, err)
	paid(id, payToken, "28000")
	keeper.shows("/office/failed", "there is no order \""+id+"\"")
	keeper.done("/office/failed", "key", payToken, "do", "again", "reason", "it should be there by now")
	keeper.shows("/office/failed", "run again by Mina: it should be there by now")

	id, payToken = v.order("tea", 1)
	paid(id, payToken, "9000.5")
	keeper.shows("/office/review", "9000.5")
	require.NoError(w.t, w.shop.box.Approve(w.t.Context(), payToken, inbox.Decision{Actor: "Jun", Reason: "not by our pages"}))
	keeper.shows("/office/failed", "approved by Jun: not by our pages", "is not a whole number of won")

	id, payToken = v.order("spoon", 1)
	v.done("/orders/" + id + "/cancel")
	paid(id, payToken, "19000")
	keeper.shows("/office/owed", "Paid after the cancellation: ₩19,000")

	id, payToken = v.order("notebook", 2)
	paid(id, payToken, "100")
	keeper.shows("/office/review", "₩100")
	keeper.done("/office/review", "key", payToken, "do", "reject", "reason", "100 is not enough")
	keeper.shows("/office/owed", "rejected by Mina: 100 is not enough")

	id, payToken = v.order("notebook", 3)
	paid(id, payToken, "30000")
	keeper.shows("/office/review", "₩30,000")

	require.NoError(w.t, w.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 1}))
	keeper.shows("/office/books", "What did you find?")
}
