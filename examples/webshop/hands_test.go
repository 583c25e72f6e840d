package main

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// TestManyHands: customers pay right and wrong, once and twice, and cancel, while several
// shopkeepers decide about all that at once, each from pages that are old by then. In the
// end every payment has one end, and the books are exact.
func TestManyHands(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.shop.db.write.ExecContext(t.Context(), `UPDATE stock SET count = 40`)
		require.NoError(t, err)
		var customers, keepers sync.WaitGroup
		gone := make(chan struct{})
		for range 3 {
			customers.Go(func() {
				for range 15 {
					w.custom()
				}
			})
			keepers.Go(func() { w.keep(gone) })
		}
		customers.Wait()
		close(gone)
		keepers.Wait()
		require.Eventually(t, func() bool {
			status, err := w.shop.box.Status(t.Context())
			return err == nil && status.Count[inbox.StageReady] == 0
		}, patience, tick)
		w.audit(40)
	})
}

// custom orders something, and pays by one or two links in one of many ways.
func (w *world) custom() {
	v := w.visitor()
	id, payToken := v.order(catalogue[rand.IntN(len(catalogue))].ID, 1)
	if len(payToken) != 36 {
		return // there are none left
	}
	links := []string{payToken}
	if resp, _ := v.post("/orders/"+id+"/pay", nil); resp.StatusCode == http.StatusSeeOther && rand.IntN(2) == 0 {
		if link := v.payment(id); link != "" {
			links = append(links, link)
		}
	}
	for _, link := range links {
		switch rand.IntN(6) {
		case 0:
			w.comes(payments.Payment{ID: uuid.MustParse(link), Identifier: id}, "100.5")
		case 1:
			w.comes(payments.Payment{ID: uuid.MustParse(link), Identifier: id}, "0")
		case 2:
			w.pay(link, 1+rand.Int64N(50_000))
		default:
			w.pay(link, 0)
		}
		if rand.IntN(6) == 0 {
			v.done("/orders/" + id + "/cancel")
		}
	}
	v.get("/orders/" + id)
}

// keep decides about payments at random, until the customers have gone.
func (w *world) keep(gone <-chan struct{}) {
	v := w.keeper()
	for {
		select {
		case <-gone:
			return
		default:
		}
		for _, e := range w.entries(inbox.StageReview, inbox.StageDead) {
			var both sync.WaitGroup // two decisions about one payment, on two screens
			for range 2 {
				both.Go(func() { w.decide(v, e) })
			}
			both.Wait()
		}
	}
}

func (w *world) decide(v *visitor, e inbox.Entry) {
	path, form := "/office/review", fields("key", e.Key, "reason", "so it is", "payment", e.Key)
	switch rand.IntN(6) {
	case 0:
		form.Set("do", "approve")
	case 1:
		form.Set("do", "reject")
	case 2:
		path = "/office/failed"
		form.Set("do", "again")
	case 3:
		path = "/office/failed"
		form.Set("do", "return")
	case 4:
		path = "/office/owed"
		form.Set("won", strconv.FormatInt(whole(e.Payment.PaidAmount), 10))
	case 5: // a tool of the ledger's, that knows nothing of the shop
		_ = w.shop.box.Approve(w.t.Context(), e.Key, inbox.Decision{Actor: "Jun", Reason: "so it is"})
		return
	}
	resp, err := v.client.PostForm(v.url+path, form)
	if err != nil {
		w.t.Error(err)
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		w.t.Errorf("%s %v: %s", path, form, resp.Status)
	}
}

func (w *world) entries(stages ...inbox.Stage) (found []inbox.Entry) {
	for e, err := range w.shop.box.List(w.t.Context(), inbox.Filter{Stages: stages}) {
		if err != nil {
			w.t.Error(err)
			return found
		}
		found = append(found, e)
	}
	return found
}

// audit compares orders, stock, deposits and ledger.
func (w *world) audit(stock int64) {
	t := w.t
	deposits, err := all(t.Context(), w.shop.db.read, scanDeposit, selectDeposit)
	require.NoError(t, err)
	orders, err := all(t.Context(), w.shop.db.read, scanOrder, selectOrder)
	require.NoError(t, err)
	totals, paidBy, byPayment := map[string]int64{}, map[string]int{}, map[string]deposit{}
	for _, o := range orders {
		totals[o.ID] = o.Total
	}
	for _, d := range deposits {
		byPayment[d.Payment] = d
		owed := d.Amount
		if d.Outcome == paid {
			paidBy[d.OrderID]++
			owed = max(0, d.Amount-totals[d.OrderID])
		}
		require.Equal(t, owed, d.GiveBack, "%+v", d)
	}
	for _, o := range orders {
		want := 0
		if o.Status == paid {
			want = 1
			lines, err := linesOf(t.Context(), w.shop.db.read, o.ID)
			require.NoError(t, err)
			totals[lines[0].Product]++
		}
		require.Equal(t, want, paidBy[o.ID], "%+v", o)
	}
	for _, p := range catalogue {
		require.Equal(t, stock-totals[p.ID], w.left(p.ID), p.ID)
	}
	for _, e := range w.entries(inbox.StageDone, inbox.StageReview, inbox.StageDead) {
		d, onBooks := byPayment[e.Key]
		won := whole(e.Payment.PaidAmount)
		switch {
		case onBooks:
			require.Equal(t, won, d.Amount)
			require.Equal(t, e.Stage == inbox.StageDead, d.Outcome == rejected, "%+v %+v", e, d)
		case e.Stage == inbox.StageDead && e.Rejected:
			require.Zero(t, won, "%+v", e)
		default:
			require.NotEqual(t, inbox.StageDone, e.Stage, "%+v", e)
		}
	}
}
