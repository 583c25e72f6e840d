package main

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// However money goes wrong, the customer and the office see what becomes of it.

func TestUnderpaidRejected(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.customer(), w.keeper()
		id, payToken := v.order("cup", 2)
		w.pay(payToken, 50_000)
		v.shows("/orders/"+id, "We are checking your payment", "You paid ₩50,000; the order costs ₩56,000")
		keeper.shows("/office", "underpaid", "<td>56000</td><td>50000</td>", "Celadon cup × 2")
		keeper.asks(http.StatusBadRequest, "/office", fields("do", "reject", "key", payToken, "reason", " "))
		keeper.decides("reject", payToken, "6,000 are missing")
		v.shows("/orders/"+id, "We could not accept your payment", "We will give ₩50,000 back to you.", "You may pay again")
		require.Empty(t, v.payment(id), "the link has been used")
		require.Contains(t, keeper.get("/office"), "Nothing is waiting.")
		for _, late := range []string{"approve", "reject"} {
			keeper.asks(http.StatusConflict, "/office", fields("do", late, "key", payToken, "reason", "from an old page"))
		}
		require.Equal(t, 500, w.left("cup"))

		second, third := v.again(id), v.again(id)
		v.shows("/orders/"+id, "We could not accept your payment", third)
		w.pay(second, 200)
		v.shows("/orders/"+id, "You paid ₩200; the order costs ₩56,000", "We will give ₩50,000 back to you.")
		w.pay(third, 0)
		v.shows("/orders/"+id, "Paid. Thank you!", "Another ₩200 came. We are checking it.", "We will give ₩50,000 back to you.")
		require.Equal(t, 498, w.left("cup"))
		audit, err := w.shop.box.Audit(t.Context(), payToken)
		require.NoError(t, err)
		require.Len(t, audit, 1)
		require.Equal(t, inbox.Decision{Actor: "Mina", Reason: "6,000 are missing"}, audit[0].Decision)
	})
}

func TestOverpaidApproved(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.customer(), w.keeper()
	id, payToken := v.order("tea", 1)
	w.pay(payToken, 10_000)
	keeper.shows("/office", "overpaid")
	keeper.decides("approve", payToken, "the rest goes back")
	v.shows("/orders/"+id, "Paid. Thank you!", "You paid ₩10,000 for this order.", "We will give ₩1,000 back to you.")
	keeper.shows("/office", `<td>paid</td><td class="number">₩10,000</td><td class="number">₩1,000</td>`)
	require.Equal(t, 499, w.left("tea"))
}

// TestPaidTwice: money for a paid order buys nothing, and the customer sees it before and after the office
// has decided on it.
func TestPaidTwice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v, keeper := w.customer(), w.keeper()
		id, first := v.order("tea", 1)
		second, third := v.again(id), v.again(id)
		w.pay(first, 0)
		v.shows("/orders/"+id, "Paid. Thank you!")
		w.pay(second, 100)
		v.shows("/orders/"+id, "Another ₩100 came. We are checking it.")
		keeper.shows("/office", "<td>100</td>")
		keeper.decides("approve", second, "by mistake")
		v.shows("/orders/"+id, "Another ₩100 came after the order was paid.", "We will give ₩100 back to you.")
		w.pay(third, 0)
		v.shows("/orders/"+id, "Another ₩9,000 came after the order was paid.", "We will give ₩9,000 back to you.")
		keeper.shows("/office", `<td>paid_twice</td><td class="number">₩9,000</td><td class="number">₩9,000</td>`)
		require.Equal(t, 499, w.left("tea"))
	})
}

// TestBuysNothing: a fraction of a won buys nothing, and neither does a record without a payment id,
// which may be a duplicate. The office sees why.
func TestBuysNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	v, keeper := w.customer(), w.keeper()
	id, payToken := v.order("tea", 1)
	w.receive(payments.Payment{Identifier: id}, "9000")
	keeper.shows("/office", "no_id")
	unnamed := regexp.MustCompile(`none-[0-9a-f-]{36}`).FindString(keeper.get("/office"))
	keeper.decides("approve", unnamed, "the name fits")
	keeper.shows("/office", "has no payment id, so it may be a duplicate")
	v.shows("/orders/"+id, "Waiting for your transfer")
	w.receive(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, "9000.5")
	v.shows("/orders/"+id, "You paid ₩9,001; the order costs ₩9,000")
	keeper.decides("approve", payToken, "nearly right")
	keeper.shows("/office", "is not a whole number of won")
	v.shows("/orders/"+id, "We are checking your order", "Your money is here and safe.")

	id, payToken = v.order("tea", 1) // and a voucher that failed is not money
	w.receive(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id}, "0")
	v.shows("/orders/"+id, "No money came with this payment.")
	keeper.decides("reject", payToken, "the voucher has failed")
	v.shows("/orders/"+id, "We could not accept your payment", "Get a new payment link")
	require.NotContains(t, v.get("/orders/"+id), "back to you")
	require.Equal(t, 500, w.left("tea"))
}

// TestLateAndCancelled: money buys goods after the deadline, and nothing after the order was cancelled.
func TestLateAndCancelled(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.customer()
	id, payToken := v.order("cup", 1)
	w.alter(`UPDATE orders SET deadline = 1`)
	v.shows("/orders/"+id, "The time to pay is over", "you get the goods while they last, or your money back", "Pay by")
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
	require.NotContains(t, v.get("/orders/"+id), "Pay by")

	id, payToken = v.order("cup", 1)
	v.sends("/orders/" + id + "/cancel")
	v.shows("/orders/"+id, "Cancelled", "Please do not pay any more.")
	v.sends("/orders/"+id+"/pay", "link", "1")
	require.Len(t, w.mock.Payments(), 2, "a cancelled order gets no payment link")
	w.pay(payToken, 0)
	v.shows("/orders/"+id, "₩28,000 came after the order was cancelled.", "We will give ₩28,000 back to you.")
	require.Equal(t, 499, w.left("cup"))
}

// TestSoldOut: of two customers who want the last spoons, the first to pay gets them. The other one gets
// everything back, and the stock of what else was ordered does not change.
func TestSoldOut(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.alter(`UPDATE stock SET count = 3 WHERE product = 'spoon'`)
		v := w.customer()
		first, payFirst := v.order("spoon", 2)
		second := uuid.NewString()
		v.sends("/orders", "order", second, "count-spoon", "2", "count-cup", "4")
		w.pay(payFirst, 0)
		v.shows("/orders/"+first, "Paid. Thank you!")
		w.pay(v.payment(second), 0)
		v.shows("/orders/"+second, "Sold out before your money arrived", "We will give ₩150,000 back to you.")
		require.Equal(t, 1, w.left("spoon"))
		require.Equal(t, 500, w.left("cup"))
		page := v.asks(http.StatusBadRequest, "/orders", fields("order", uuid.NewString(), "count-spoon", "2"))
		require.Contains(t, page, "Not enough left.")
		require.Contains(t, page, "1 left")
	})
}
