package mockserver

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

var dashDeliveryStatuses = []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryFailed}

// dashDeliveries is the list of deliveries, ?status= chooses.
func (s *Server) dashDeliveries(c *dashCall) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := web.DashDeliveries{Status: c.param("status"), Next: s.dashNext(), Webhook: s.anyWebhook()}
	if !slices.Contains(dashDeliveryStatuses, DeliveryStatus(view.Status)) {
		view.Status = ""
	}
	counts := s.countDeliveries()
	total := len(s.sender.deliveries)
	if view.Status != "" {
		total = int(counts[DeliveryStatus(view.Status)])
	}
	for _, status := range dashDeliveryStatuses {
		view.Statuses = append(view.Statuses, web.DashCount{
			Status: string(status), Count: counts[status], Current: string(status) == view.Status,
		})
	}
	pager, from, to := web.NewPager(c.Request, total, dashPageSize)
	view.Pager = pager
	met := 0
	for i := len(s.sender.deliveries) - 1; i >= 0 && met < to; i-- {
		d := s.sender.deliveries[i]
		if view.Status != "" && string(d.status) != view.Status {
			continue
		}
		if met++; met > from {
			view.Rows = append(view.Rows, s.dashDelivery(d))
		}
	}
	return view, nil
}

func (s *Server) countDeliveries() map[DeliveryStatus]int64 {
	counts := map[DeliveryStatus]int64{}
	for _, d := range s.sender.deliveries {
		counts[d.status]++
	}
	return counts
}

func (s *Server) anyWebhook() bool {
	return slices.ContainsFunc(s.apps.list, func(a *application) bool { return a.WebhookURL != "" })
}

// dashDelivery is a delivery with its attempts, newest first. The caller holds s.mu.
func (s *Server) dashDelivery(d *delivery) web.DashDelivery {
	view := web.DashDelivery{
		PaymentID: d.payment.ID, Title: s.dashTitle(d.payment), WebhookID: d.id,
		URL: s.log.redact(d.url), Status: string(d.status),
		CanResend: d.payment.app.WebhookURL != "" || d.payment.Status == StatusComplete,
	}
	if d.next != nil {
		view.Wait, view.Waits = s.dashWait(d.next.At), true
	}
	for i, a := range slices.Backward(d.attempts) {
		view.Attempts = append(view.Attempts, web.DashAttempt{
			Key:    fmt.Sprintf("%s-%d", d.id, i),
			Number: a.RetryCount + 1, Of: len(waits), Due: a.Due, Started: a.Started, Ended: a.Ended,
			HTTPStatus: a.HTTPStatus, Err: readable(s.log.redact(a.Err)), Fault: a.Fault, URL: s.log.redact(a.URL),
			Request: s.dashRequestSent(a.Attempt), Response: readable(s.log.redact(a.Response)),
		})
	}
	return view
}

// dashRequestSent is the request of an attempt as it goes over the wire; see send.
func (s *Server) dashRequestSent(a Attempt) string {
	var b strings.Builder
	path, host := "/", ""
	if u, err := url.Parse(a.URL); err == nil {
		path, host = u.RequestURI(), u.Host
	}
	body := `{"payment_id":"` + a.PaymentID + `"}`
	_, _ = fmt.Fprintf(&b, "POST %s HTTP/1.1\nHost: %s\nUser-Agent: %s\nContent-Length: %d\nContent-Type: application/json\n"+
		"X-Retry-Count: %d\nX-Webhook-ID: %s\n\n%s", path, host, webhookUserAgent, len(body), a.RetryCount, a.WebhookID, body)
	return s.log.redact(b.String())
}

// dashNext is the webhook attempt that comes next, nil when none does.
func (s *Server) dashNext() *web.DashNext {
	if list := s.dashWaiting(1); len(list) > 0 {
		return &list[0]
	}
	return nil
}

// dashWaiting are the attempts to come, the soonest first, at most n.
func (s *Server) dashWaiting(n int) []web.DashNext {
	soonest := s.sender.waiting(n)
	list := make([]web.DashNext, len(soonest))
	for i, d := range soonest {
		p := d.payment
		list[i] = web.DashNext{
			PaymentID: p.ID, Title: s.dashTitle(p), Number: d.begun + 1, Of: len(waits), Wait: s.dashWait(d.next.At),
		}
	}
	return list
}

// dashWait is how long it is until an event.
func (s *Server) dashWait(at time.Time) web.Wait {
	return web.Wait{Due: at, Left: at.Sub(s.clock.now())}
}
