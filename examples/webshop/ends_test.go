package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
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

	again := v.done("/orders/" + id + "/pay")
	w.pay(again[len(again)-36:], 0)
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

// TestNoID: a record without an id could not be told from the next one, so it buys nothing
// and goes back, each as a line of its own.
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
		keeper.done("/office/review", "key", key, "do", "reject", "reason", "nobody knows which payment")
	}
	keeper.shows("/office/owed", "Rejected: ₩9,000", "Rejected: ₩30,000")
	require.ErrorContains(t, w.shop.grant(t.Context(), nil, payments.Payment{Identifier: id, PaidAmount: payments.NewAmount(9000)}), "names no payment")
	require.EqualValues(t, 500, w.left("tea"))
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
	second := v.done("/orders/" + id + "/pay")
	second = second[len(second)-36:]
	require.NotEqual(t, first, second)
	w.pay(first, 0)
	w.pay(second, 0)
	v.shows("/orders/"+id, "Paid. Thank you!", "₩19,000 came although the order was paid.", "We give ₩19,000 back to you.")
	keeper.shows("/office/owed", "Paid twice: ₩19,000")
	keeper.shows("/office", "To give back ₩19,000")
	require.EqualValues(t, 499, w.left("spoon"))
}

// TestSecondPaymentDiffers: money that comes beside the order's own is seen by the customer
// before anybody has decided on it.
func TestSecondPaymentDiffers(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.visitor(), w.keeper()
	id, first := v.order("tea", 1)
	second := v.done("/orders/" + id + "/pay")
	second = second[len(second)-36:]
	w.pay(first, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	w.pay(second, 100)
	v.shows("/orders/"+id, "₩100 has come as well.")
	keeper.shows("/office/review", "₩100")
	keeper.done("/office/review", "key", second, "do", "reject", "reason", "nothing to buy")
	v.shows("/orders/"+id, "Paid. Thank you!", "We give ₩100 back to you.")
}

func TestPaidLate(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	id, payToken := v.order("cup", 1)
	w.now.add(2 * time.Hour)
	v.shows("/orders/"+id, "The time to pay is over", "the order still counts while the goods last")
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
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
	second := v.done("/orders", "order", "7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11", "count-spoon", "2", "count-cup", "4")
	w.pay(payFirst, 0)
	v.shows("/orders/"+first, "Paid. Thank you!")
	w.pay(second[len(second)-36:], 0)
	v.shows("/orders/7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11", "Sold out before your deposit came", "We give ₩150,000 back to you.")
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
	link := v.done("/orders", "order", id, "count-cup", "1")
	require.Equal(t, w.mock.CheckoutURL()+"/"+payToken, link)
	require.Len(t, w.mock.Payments(), 1)
	o, err := w.shop.place(t.Context(), uuid.MustParse(id), nil, korean) // when both come at once
	require.NoError(t, err)
	require.Equal(t, "en", o.Lang, "the first one counts")
}
