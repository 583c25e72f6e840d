package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// Every way in which money can go wrong has an end that customer and shopkeeper see.

func TestUnderpaidRejected(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 2)
	w.pay(payToken, 50_000)
	v.shows("/orders/"+id, "We are looking at your deposit", "You paid ₩50,000, the order is ₩56,000")
	keeper.shows("/office/review", "Less was paid than the order costs", "₩56,000", "₩50,000")
	keeper.done("/office/review", "key", payToken, "do", "reject", "reason", "6,000 are missing")
	v.shows("/orders/"+id, "We could not accept your deposit", "We give ₩50,000 back to you.")
	for _, c := range []struct {
		links int
		says  string
	}{{maxLinks, "takes no more payments"}, {1, "You may pay again"}} {
		_, err := w.shop.db.write.ExecContext(t.Context(), `UPDATE orders SET links = $1`, c.links)
		require.NoError(t, err)
		v.shows("/orders/"+id, c.says)
	}
	require.EqualValues(t, 500, w.left("cup"))
	keeper.shows("/office/review", "Nothing waits for a decision.")
	keeper.shows("/office/owed", "Rejected: ₩50,000")
	resp, _ := keeper.post("/office/owed", fields("payment", payToken, "won", "49999"))
	require.Equal(t, http.StatusConflict, resp.StatusCode, "the page showed another sum")
	keeper.done("/office/owed", "payment", payToken, "won", "50000")
	v.shows("/orders/"+id, "₩50,000 was given back on")

	resp, _ = keeper.post("/office/owed", fields("payment", payToken, "won", "50000"))
	require.Equal(t, http.StatusConflict, resp.StatusCode, "once")
	resp, _ = keeper.post("/office/review", fields("key", payToken, "do", "approve", "reason", "after all"))
	require.Equal(t, http.StatusConflict, resp.StatusCode, "it was decided")

	w.pay(v.again(id), 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	require.EqualValues(t, 498, w.left("cup"))
}

// TestFraction: a sum with a fraction of a won buys nothing, and goes back rounded up.
func TestFraction(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("tea", 1)
	w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, "9000.5")
	v.shows("/orders/"+id, "You paid ₩9,001, the order is ₩9,000")
	keeper.shows("/office/review", "9000.5")
	keeper.done("/office/review", "key", payToken, "do", "reject", "reason", "half a won")
	keeper.shows("/office/owed", "Rejected: ₩9,001")
	v.shows("/orders/"+id, "We give ₩9,001 back to you.")
}

// TestNoID: a record without an id could not be told from the next one, so it buys nothing.
// The shopkeeper says how much goes back, each as a line of its own: it may be the record
// of a payment that the shop has already, by its id.
func TestNoID(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, _ := v.order("tea", 1)
	for _, amount := range []string{"9000", "30000"} {
		w.comes(payments.Payment{Identifier: id}, amount)
		keeper.shows("/office/review", "The record names no payment")
		key := w.only(inbox.StageReview)
		require.NotContains(t, keeper.get("/office/review"), `value="approve"`)
		resp, _ := keeper.post("/office/review", fields("key", key, "do", "approve", "reason", "the name fits"))
		require.Equal(t, http.StatusBadRequest, resp.StatusCode)
		resp, _ = keeper.post("/office/review", fields("key", key, "do", "reject", "reason", "nobody knows which payment"))
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, "how much?")
		keeper.insists(key, amount, "nobody knows which payment")
	}
	keeper.shows("/office/owed", "Rejected: ₩9,000", "Rejected: ₩30,000")
	v.shows("/orders/"+id, "We give ₩9,000 back to you.", "We give ₩30,000 back to you.", "You may pay again")

	paidID, payToken := v.order("spoon", 1)
	w.pay(payToken, 0)
	v.shows("/orders/"+paidID, "Paid. Thank you!")
	w.comes(payments.Payment{Identifier: paidID}, "19000") // the same payment once more, by a poll that does not name it
	keeper.shows("/office/review", "The record names no payment", "if it is a payment that the shop has already")
	require.NotContains(t, v.get("/orders/"+paidID), "has come as well")
	keeper.done("/office/review", "key", w.only(inbox.StageReview), "do", "reject", "reason", "it is "+payToken, "won", "0")
	keeper.shows("/office/review", "Nothing waits for a decision.")
	require.NotContains(t, keeper.get("/office/owed"), "₩19,000")
	require.ErrorContains(t, w.shop.grant(t.Context(), nil, payments.Payment{Identifier: id, PaidAmount: payments.NewAmount(9000)}), "names no payment")
	require.EqualValues(t, 500, w.left("tea"))
}

// TestNothingPaid: a voucher that has failed is no money that the shop keeps safe. The
// customer may pay again.
func TestNothingPaid(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("tea", 1)
	w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id, Method: payments.MethodCulture}, "0")
	keeper.shows("/office/review", "Nothing was paid")
	v.shows("/orders/"+id, "No money has come by this payment.")
	keeper.done("/office/review", "key", payToken, "do", "reject", "reason", "the voucher has failed")
	v.shows("/orders/"+id, "We could not accept your deposit", "Get a new payment link")
	page := v.get("/orders/" + id)
	require.NotContains(t, page, "back to you")
	require.NotContains(t, page, payToken, "its link has been used")
	require.Contains(t, keeper.get("/office/owed"), "Nobody has money to get back.")
}

// TestPayAfterRejection: a rejected payment hides neither the link that the customer has got
// since, nor the next payment that is looked at.
func TestPayAfterRejection(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, first := v.order("cup", 1)
	second := v.again(id)
	w.pay(second, 100)
	keeper.shows("/office/review", "₩100")
	keeper.done("/office/review", "key", second, "do", "reject", "reason", "100 is not enough")
	v.shows("/orders/"+id, "We could not accept your deposit", "Get a new payment link")
	require.NotContains(t, v.get("/orders/"+id), "Go to the payment page", "the link has been used")
	require.NotEqual(t, second, v.again(id))
	v.shows("/orders/"+id, "We could not accept your deposit", "Go to the payment page")
	w.pay(first, 200)
	v.shows("/orders/"+id, "We are looking at your deposit", "You paid ₩200, the order is ₩28,000", "We give ₩100 back to you.")
}

// TestMendedRecord: the shop dies between writing down that money is owed and rejecting the
// payment, and then the service says that more was paid. The books have what was paid.
func TestMendedRecord(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 1)
	w.pay(payToken, 20_000)
	keeper.shows("/office/review", "₩20,000")
	e, err := w.shop.box.Get(t.Context(), payToken)
	require.NoError(t, err)
	written, err := w.shop.owe(t.Context(), e, 20_000, inbox.Decision{Actor: "Mina", Reason: "too little"})
	require.NoError(t, err)
	require.True(t, written)
	keeper.shows("/office/owed", "Rejected: ₩20,000")
	require.NotContains(t, keeper.get("/office/review"), "the order counts as paid", "the money may be on its way back")
	resp, _ := keeper.post("/office/review", fields("key", payToken, "do", "approve", "reason", "after all"))
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, "28000")
	v.shows("/orders/"+id, "Paid. Thank you!")
	v.shows("/orders/"+id+"/receipt", "<strong>₩28,000</strong></dd>")
	require.Contains(t, keeper.get("/office/owed"), "Nobody has money to get back.")
}

// TestMendedTwice: the same, and the sum is a wrong one again. The next rejection fixes the
// line, and a dead payment whose line has another sum waits for a decision.
func TestMendedTwice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.visitor(), w.keeper()
		fixed := func() string {
			id, payToken := v.order("cup", 1)
			w.pay(payToken, 20_000)
			keeper.shows("/office/review", payToken)
			e, err := w.shop.box.Get(t.Context(), payToken)
			require.NoError(t, err)
			_, err = w.shop.owe(t.Context(), e, 20_000, inbox.Decision{Actor: "Jun", Reason: "too little"})
			require.NoError(t, err)
			w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, "25000")
			keeper.shows("/office/review", "₩25,000")
			return payToken
		}
		first := fixed()
		keeper.done("/office/review", "key", first, "do", "reject", "reason", "still too little")
		keeper.shows("/office/owed", "Rejected: ₩25,000", "rejected by Mina: still too little")
		require.NotContains(t, keeper.get("/office/owed"), "₩20,000")
		require.Contains(t, keeper.get("/office/failed"), "Every payment is booked.")

		second := fixed() // and it is rejected by a tool that knows nothing of the shop
		require.NoError(t, w.shop.box.Reject(t.Context(), second, inbox.Decision{Actor: "Jun", Reason: "too little"}))
		keeper.shows("/office", "<strong>1</strong> Not booked")
		keeper.shows("/office/failed", second, "₩25,000")
		keeper.done("/office/failed", "key", second, "do", "return", "reason", "all of it")
		require.Contains(t, keeper.get("/office/failed"), "Every payment is booked.")
		require.NotContains(t, keeper.get("/office/owed"), "₩20,000")

		third := fixed() // and the first sum is sent back meanwhile
		keeper.done("/office/owed", "payment", third, "won", "20000")
		resp, body := keeper.post("/office/review", fields("key", third, "do", "reject", "reason", "still too little"))
		require.Equal(t, http.StatusConflict, resp.StatusCode)
		require.Contains(t, body, "Another sum of this payment has been given back")
		require.Equal(t, third, w.only(inbox.StageReview), "it is not hidden")
	})
}

// TestBrowserLeaves: a rejection that has begun ends, whether or not its browser waits.
func TestBrowserLeaves(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	_, payToken := v.order("cup", 1)
	w.pay(payToken, 20_000)
	keeper.shows("/office/review", "₩20,000")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/office/review", nil)
	require.NoError(t, w.shop.reject(httptest.NewRecorder(), r, payToken, inbox.Decision{Actor: "Mina", Reason: "too little"}))
	require.Equal(t, payToken, w.only(inbox.StageDead))
	keeper.shows("/office/owed", "Rejected: ₩20,000")
}

// TestOwnPaymentUnnamed: a record without an id comes of an order's payment, which the shop
// does not have yet. Its money does not go back before the service has named the shop's own
// payments: the goods go out for it.
func TestOwnPaymentUnnamed(t *testing.T) {
	t.Parallel()
	w := start(t)
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), ""))
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 1)
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "confirm", Kind: "drop-before"}))
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after"}))
	w.pay(payToken, 0)
	require.Eventually(t, func() bool { return w.mock.Payments()[0].Status == mockserver.StatusComplete }, patience, tick)
	w.comes(payments.Payment{Identifier: id}, "28000")
	keeper.shows("/office/review", "The record names no payment", "because that one comes by its id")
	form := fields("key", w.only(inbox.StageReview), "do", "reject", "reason", "the shop does not have it", "won", "28000")
	resp, body := keeper.post("/office/review", form)
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Contains(t, body, "The shop is still asking the service")
	w.mock.ClearFaults()
	resp, body = keeper.post("/office/review", form)
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Contains(t, body, "look whether this one has come by its id")
	v.shows("/orders/"+id, "Paid. Thank you!")
	form.Set("won", "0")
	resp, _ = keeper.post("/office/review", form)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	require.Contains(t, keeper.get("/office/owed"), "Nobody has money to get back.")
}

// insists rejects a record that names no payment, after the service was asked for the
// payments that it could be.
func (v *visitor) insists(key, won, reason string) {
	v.t.Helper()
	form := fields("key", key, "do", "reject", "reason", reason, "won", won)
	resp, body := v.post("/office/review", form)
	require.Equal(v.t, http.StatusConflict, resp.StatusCode)
	require.Contains(v.t, body, "The service has just been asked")
	resp, _ = v.post("/office/review", form)
	require.Equal(v.t, http.StatusSeeOther, resp.StatusCode)
}

// TestStrangeTexts: what a service may write keeps no money off the books of PostgreSQL.
func TestStrangeTexts(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	w := start(t, func(cfg *settings) { cfg.Postgres = db.DSN })
	keeper := w.keeper()
	long := "player-77 of another shop \x00"
	for range 200 { // too long for an index
		long += uuid.NewString()
	}
	w.comes(payments.Payment{ID: uuid.New(), Identifier: long, Method: "DEPOSIT\x00\xff"}, "7000")
	keeper.shows("/office/review", "The payment belongs to no order", "player-77 of another shop")
	keeper.done("/office/review", "key", w.only(inbox.StageReview), "do", "reject", "reason", "a\x00b\xff")
	keeper.shows("/office/owed", "Rejected: ₩7,000", "rejected by Mina: ab", `<span class="id">player-77 of another shop`)
	resp, err := keeper.client.Get(w.url + "/orders/%00" + uuid.NewString() + "%00")
	require.NoError(t, err)
	read(t, resp)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

func TestOverpaidApproved(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("tea", 1)
	w.pay(payToken, 10_000)
	keeper.shows("/office/review", "More was paid than the order costs")
	keeper.done("/office/review", "key", payToken, "do", "approve", "reason", "the rest goes back")
	v.shows("/orders/"+id, "Paid. Thank you!", "We give ₩1,000 back to you.")
	v.shows("/orders/"+id+"/receipt", "₩10,000", "We give ₩1,000 back to you.")
	keeper.shows("/office/owed", "Overpaid: ₩1,000")
	require.EqualValues(t, 499, w.left("tea"))
}

func TestPaidTwice(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, first := v.order("spoon", 1)
	second := v.again(id)
	require.NotEqual(t, first, second)
	w.pay(first, 0)
	w.pay(second, 0)
	v.shows("/orders/"+id, "Paid. Thank you!", "₩19,000 came although the order was paid.", "We give ₩19,000 back to you.")
	keeper.shows("/office/owed", "Paid twice: ₩19,000", "The shop sends no money by itself.")
	keeper.shows("/office", "To give back ₩19,000")
	require.EqualValues(t, 499, w.left("spoon"))
}

// TestSecondPaymentDiffers: money that comes next to the order's own is seen by the customer
// before anybody has decided on it.
func TestSecondPaymentDiffers(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, first := v.order("tea", 1)
	second := v.again(id)
	w.pay(first, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	w.pay(second, 100)
	v.shows("/orders/"+id, "₩100 has come as well.")
	keeper.shows("/office/review", "₩100", "Paid twice")
	require.NotContains(t, keeper.get("/office/review"), "the order counts as paid", "they have been")
	resp, _ := keeper.post("/office/review", fields("key", second, "do", "approve", "reason", "from an old page"))
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	keeper.done("/office/review", "key", second, "do", "reject", "reason", "nothing to buy")
	v.shows("/orders/"+id, "Paid. Thank you!", "We give ₩100 back to you.")
}

func TestPaidLate(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	id, payToken := v.order("cup", 1)
	w.now.add(2 * time.Hour)
	v.shows("/orders/"+id, "The time to pay is over", "the order still counts while the goods last", "Deadline")
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	require.NotContains(t, v.get("/orders/"+id), "Deadline", "there is nothing left to pay")
	require.EqualValues(t, 499, w.left("cup"))
}

func TestPaidAfterCancel(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, payToken := v.order("cup", 1)
	v.done("/orders/" + id + "/cancel")
	v.shows("/orders/"+id, "Cancelled", "Please do not pay any more.")
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "₩28,000 came after the order was cancelled.", "We give ₩28,000 back to you.")
	keeper.shows("/office/owed", "Paid after the cancellation: ₩28,000")
	require.EqualValues(t, 500, w.left("cup"))
	resp, _ := v.post("/orders/"+id+"/pay", nil)
	require.Equal(t, http.StatusConflict, resp.StatusCode, "a cancelled order takes no payment")
}

// TestSoldOut: two customers want the last ones of something, and of something else that
// there is plenty of. The one who pays first gets all, the other one loses nothing.
func TestSoldOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	_, err := w.shop.db.write.ExecContext(t.Context(), `UPDATE stock SET count = 3 WHERE product = 'spoon'`)
	require.NoError(t, err)
	v := w.visitor()
	first, payFirst := v.order("spoon", 2)
	v.done("/orders", "order", "7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11", "count-spoon", "2", "count-cup", "4", "contact", testContact)
	w.pay(payFirst, 0)
	v.shows("/orders/"+first, "Paid. Thank you!")
	before, err := w.shop.order(t.Context(), "7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11")
	require.NoError(t, err)
	w.pay(v.payment("7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11"), 0)
	v.shows("/orders/7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11", "Sold out before your deposit came", "We give ₩150,000 back to you.")
	seen, err := w.shop.look(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, stateSoldOut, seen.State, "also if the deposit came while somebody looked")
	require.EqualValues(t, 1, w.left("spoon"))
	require.EqualValues(t, 500, w.left("cup"), "what was taken for half an order is put back")

	v.done("/cart", "count-spoon", "2")
	v.shows("/cart", "Only 1 left. Please order fewer.")
	require.Equal(t, "/cart", v.done("/orders", "order", "7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a12", "count-spoon", "2"))
}

// TestSameFormTwice: a form that is sent twice is one order with one payment.
func TestSameFormTwice(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	id, payToken := v.order("cup", 1)
	require.Equal(t, "/orders/"+id, v.done("/orders", "order", id, "count-cup", "1"))
	require.Equal(t, payToken, v.payment(id))
	require.Len(t, w.mock.Payments(), 1)
	o, err := w.shop.place(t.Context(), uuid.MustParse(id), nil, korean, "") // when both come at once
	require.NoError(t, err)
	require.Equal(t, "en", o.Lang, "the first one counts")
}
