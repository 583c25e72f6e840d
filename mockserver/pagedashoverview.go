package mockserver

import (
	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// maxDashRecent is how many payments the first page shows.
const maxDashRecent = 5

// dashOverview is the first page: how things stand, and what to do.
func (s *Server) dashOverview(*dashCall) (any, *Error) {
	view := web.DashOverview{BaseURL: s.URL(), CheckoutURL: s.CheckoutURL(), StoreURL: storeRoot + "/"}
	view.Statuses, view.Total = s.countPayments()
	view.Recent = s.paymentsFrom(0, maxDashRecent, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	view.Next, view.Webhook, view.Products = s.dashNext(), s.anyWebhook(), len(s.store.products)
	return view, nil
}
