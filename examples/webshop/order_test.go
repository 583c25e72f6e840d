package main

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDoubleClick: one order, and one payment for each link, however often a form is sent at once.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		v := w.customer()
		id := uuid.NewString()
		click := func(path string, pairs ...string) {
			var clicks sync.WaitGroup
			for range 8 {
				clicks.Go(func() {
					if resp, body, err := v.do(path, fields(pairs...)); err != nil || resp.StatusCode != http.StatusSeeOther {
						t.Errorf("%v: %s", err, body)
					}
				})
			}
			clicks.Wait()
		}
		click("/orders", "order", id, "count-cup", "1", "count-tea", "2")
		require.Len(t, w.mock.Payments(), 1)
		first := v.payment(id)
		require.Equal(t, w.mock.Payments()[0].ID, first)
		click("/orders/"+id+"/pay", "link", "1")
		require.Len(t, w.mock.Payments(), 2)
		require.NotEqual(t, first, v.payment(id))
		v.shows("/orders/"+id, "₩46,000")
	})
}

// TestNoLink: an order is placed although the service fails, and gets its link although the customer leaves.
// After a crash between the claim and the payment, the customer waits and then gets another one.
func TestNoLink(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.customer()
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "create", Kind: "status-before", Status: 500}))
	id, payToken := v.order("tea", 1)
	require.Empty(t, payToken)
	require.Contains(t, v.get("/orders/"+id), "We could not prepare your payment")
	v.asks(http.StatusInternalServerError, "/orders/"+id+"/pay", fields("link", "0"))
	w.mock.ClearFaults()
	o, err := w.shop.order(t.Context(), id)
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	require.NoError(t, w.shop.addLink(ctx, o, 0))
	v.shows("/orders/"+id, "Go to the payment page")

	w.alter(`UPDATE pay_links SET payment = ''`)
	page := v.get("/orders/" + id)
	require.Contains(t, page, "Preparing your payment")
	require.NotContains(t, page, `name="link"`)
	w.alter(`UPDATE pay_links SET created_at = created_at - 11`)
	require.Contains(t, v.get("/orders/"+id), "We could not prepare your payment")
	w.pay(v.again(id), 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
}

// TestForms: a form that the shop cannot take is answered with what is wrong, and keeps what was typed.
func TestForms(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.customer()
	for typed, says := range map[string]string{
		"100": "Enter a number from 0 to 99.", "-1": "Enter a number from 0 to 99.", "many": "Enter a number from 0 to 99.",
		"0": "Choose at least one item.", "": "Choose at least one item.",
	} {
		id := uuid.NewString()
		page := v.asks(http.StatusBadRequest, "/orders", fields("order", id, "count-cup", typed, "count-tea", "0"))
		require.Contains(t, page, says, typed)
		require.Contains(t, page, `name="order" value="`+id+`"`)
		require.Contains(t, page, `name="count-cup" value="`+cmp.Or(typed, "0")+`"`)
		v.asks(http.StatusNotFound, "/orders/"+id, nil)
	}
	bad := "Something in the form is missing or wrong"
	require.Contains(t, v.asks(http.StatusBadRequest, "/orders", fields("order", "1", "count-cup", "1")), bad)
	require.Contains(t, v.asks(http.StatusBadRequest, "/orders", fields("order", strings.Repeat("x", 20<<10))), bad)
	v.headers = map[string]string{"Sec-Fetch-Site": "cross-site"}
	v.asks(http.StatusForbidden, "/orders", fields("order", uuid.NewString(), "count-cup", "1"))
	v.headers = nil
	id, _ := v.order("cup", 99)
	require.Contains(t, v.asks(http.StatusBadRequest, "/orders/"+id+"/pay", fields("link", "-1")), bad)
	for _, path := range []string{"/orders/1", "/orders/" + uuid.NewString(), "/nothing", "/static/", "/orders/%00"} {
		v.asks(http.StatusNotFound, path, nil)
	}
	require.Len(t, w.mock.Payments(), 1)
}
