package mockserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// scanned is how many payments a query reads before it releases the lock for a moment: a
// query over a million of them must not hold up the service.
const scanned = 4096

// part says which entries of a list a query returns, newest first. Entries are numbered
// from 1 in the order of creation.
type part struct {
	status string // only these; "" for all
	before uint64 // only entries with a lower number; 0 for all
	skip   int    // leave out so many of them
	limit  int
}

// from is the index of the newest entry among n that the part may return, plus one.
func (p *part) from(n int) int {
	if p.before == 0 || p.before > uint64(n) { //nolint:gosec // lengths are not negative
		return n
	}
	return int(p.before) - 1 //nolint:gosec // at most n
}

// take reports whether an entry with the status belongs to the part.
func (p *part) take(status string) bool {
	if p.status != "" && p.status != status {
		return false
	}
	p.skip--
	return p.skip < 0
}

// older is the cursor for older entries than the one with the index, 0 without any.
func older(index int) uint64 {
	if index <= 0 {
		return 0
	}
	return uint64(index) + 1
}

func (c control) state() stateView {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	return stateView{
		Now: whole(now), Clock: now, Rate: s.clock.rate(), Deliveries: c.countDeliveries(),
		Unmatched: len(s.phone.unmatched), Faults: s.faults.on.Load(),
	}
}

// rate is how many seconds of the clock pass in one of real time.
func (c *clock) rate() float64 {
	switch {
	case c.stopped:
		return 0
	case c.factor > 0:
		return c.factor
	}
	return 1
}

func (c control) clock() clockView {
	clock := &c.s.clock
	out := clockView{Now: whole(clock.now()), Mode: "real", Factor: clock.rate()}
	switch {
	case clock.stopped:
		out.Mode = "stopped"
	case clock.factor > 0:
		out.Mode = "accelerated"
	}
	return out
}

// summary is how things are, with up to n of the newest payments.
func (c control) summary(n int) summaryView {
	s := c.s
	out := summaryView{
		stateView: c.state(), BaseURL: s.URL(), CheckoutURL: s.CheckoutURL(), StoreURL: s.URL() + storeRoot + "/",
		Payments: c.countPayments(),
	}
	out.Recent, _ = c.payments(part{limit: n})
	out.Next, out.Webhook, out.Products = c.nextAttempt(), c.anyWebhook(), len(s.Products())
	return out
}

// anyWebhook reports whether any application has a webhook URI.
func (c control) anyWebhook() bool {
	return slices.ContainsFunc(c.s.Applications(), func(a Application) bool { return a.WebhookURL != "" })
}

// nextAttempt is the first of attempts, nil without any.
func (c control) nextAttempt() *waitingView {
	if list := c.attempts(1); len(list) > 0 {
		return &list[0]
	}
	return nil
}

var paymentStatuses = []Status{StatusCreated, StatusWaiting, StatusProgress, StatusComplete, StatusExpired}

// countPayments counts the payments of each status.
func (c control) countPayments() map[Status]int {
	s := c.s
	counts := map[Status]int{}
	for _, status := range paymentStatuses {
		counts[status] = 0
	}
	order := c.order()
	for len(order) > 0 {
		some := order[:min(scanned, len(order))]
		order = order[len(some):]
		s.mu.Lock()
		for _, p := range some {
			counts[p.Status]++
		}
		s.mu.Unlock()
	}
	return counts
}

// order is all payments in the order of creation. The slice only ever grows.
func (c control) order() []*payment {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.book.expire()
	return c.s.book.list
}

// payments returns a part of the payments and the cursor for the rest.
func (c control) payments(q part) (list []paymentView, cursor uint64) {
	s, order := c.s, c.order()
	list = []paymentView{}
	for end := q.from(len(order)); end > 0 && len(list) < q.limit; {
		s.mu.Lock()
		for stop := max(0, end-scanned); end > stop && len(list) < q.limit; end-- {
			if p := order[end-1]; q.take(string(p.Status)) {
				list, cursor = append(list, c.viewPayment(p)), older(end-1)
			}
		}
		s.mu.Unlock()
	}
	if len(list) < q.limit {
		cursor = 0
	}
	return list, cursor
}

// viewPayment is a payment with all that is known of it. The caller holds s.mu.
func (c control) viewPayment(p *payment) paymentView {
	out := viewPayment(p.export())
	out.CanPay = p.unpaid() || p.Status == StatusExpired && c.s.cfg.LateDeposit
	out.CanResend = p.Status == StatusProgress && p.app.WebhookURL != "" || p.Status == StatusComplete
	if p.delivery != nil {
		out.Delivery = p.delivery.status
	}
	return out
}

// payment is one payment of any application.
func (c control) payment(id string) (out paymentView, _ *Error) {
	problem := c.with(id, func(p *payment) { out = c.viewPayment(p) })
	return out, problem
}

// record is the record of a payment as the service shows it (interface §2.2).
func (c control) record(id string) (out json.RawMessage, _ *Error) {
	problem := c.with(id, func(p *payment) { out = p.appendRecord(nil) })
	return out, problem
}

// with calls read with a payment, under the lock.
func (c control) with(id string, read func(*payment)) *Error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	p, problem := c.s.book.find(id)
	if problem == nil {
		read(p)
	}
	return problem
}

// timeline is what happened to a payment, oldest first.
func (c control) timeline(id string) ([]eventView, *Error) {
	events, problem := asProblem(c.s.Timeline(id))
	list := make([]eventView, len(events))
	for i, e := range events {
		list[i] = eventView{At: whole(e.At), Kind: e.Kind, Text: e.Text}
	}
	return list, problem
}

var deliveryStatuses = []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryFailed}

// countDeliveries counts the deliveries of each status. The caller holds s.mu.
func (c control) countDeliveries() map[DeliveryStatus]int {
	counts := map[DeliveryStatus]int{}
	for _, status := range deliveryStatuses {
		counts[status] = 0
	}
	for _, d := range c.s.sender.deliveries {
		counts[d.status]++
	}
	return counts
}

// deliveries returns a part of the webhook deliveries and the cursor for the rest.
func (c control) deliveries(q part) (list []deliveryView, cursor uint64) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	list = []deliveryView{}
	for i := q.from(len(s.sender.deliveries)); i > 0; i-- {
		d := s.sender.deliveries[i-1]
		if !q.take(string(d.status)) {
			continue
		}
		if list = append(list, c.viewDelivery(d)); len(list) == q.limit {
			return list, older(i - 1)
		}
	}
	return list, 0
}

// delivery is the webhook delivery of a payment; false when there is none.
func (c control) delivery(id string) (out deliveryView, ok bool, problem *Error) {
	problem = c.with(id, func(p *payment) {
		if ok = p.delivery != nil; ok {
			out = c.viewDelivery(p.delivery)
		}
	})
	return out, ok, problem
}

// viewDelivery is a delivery with its attempts. The caller holds s.mu.
func (c control) viewDelivery(d *delivery) deliveryView {
	out := deliveryView{
		PaymentID: d.payment.ID, Title: d.payment.Title, WebhookID: d.id, URL: c.s.log.redact(d.url), Status: d.status,
		Attempts:  make([]attemptView, len(d.attempts)),
		CanResend: d.payment.app.WebhookURL != "" || d.payment.Status == StatusComplete,
	}
	for i, a := range d.attempts {
		out.Attempts[i] = c.viewAttempt(a.Attempt)
	}
	if d.next != nil {
		out.Next, out.Wait = whole(d.next.At), c.wait(d.next.At)
	}
	return out
}

// wait is how long it is until an event.
func (c control) wait(at time.Time) web.Wait { return web.Wait{Due: at, Left: at.Sub(c.s.clock.now())} }

// attempts are the automatic webhook attempts to come, the soonest first, at most n.
func (c control) attempts(n int) []waitingView {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []waitingView{}
	for _, d := range s.sender.waiting(n) {
		list = append(list, waitingView{
			PaymentID: d.payment.ID, Title: d.payment.Title, Number: d.begun + 1, Due: whole(d.next.At), Wait: c.wait(d.next.At),
		})
	}
	return list
}

// notifications returns a part of the accepted notifications and the cursor for the rest.
func (c control) notifications(q part) (list []notificationView, cursor uint64) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	list = []notificationView{}
	from := max(0, q.from(len(s.phone.uploads))-q.skip)
	to := max(0, from-q.limit)
	for _, u := range slices.Backward(s.phone.uploads[to:from]) {
		list = append(list, viewNotification(u.Notification, u.reason))
	}
	return list, older(to)
}

// notification is an accepted notification with what became of it.
func (c control) notification(n Notification) notificationView {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if u := c.s.phone.byID[n.ID]; u != nil {
		return viewNotification(u.Notification, u.reason)
	}
	return viewNotification(n, "") // forgotten meanwhile
}

// unmatched returns a part of the unmatched deposits and the cursor for the rest.
func (c control) unmatched(q part) (list []unmatchedView, cursor uint64) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire()
	list = []unmatchedView{}
	from := max(0, q.from(len(s.phone.unmatched))-q.skip)
	to := max(0, from-q.limit)
	for _, u := range slices.Backward(s.phone.unmatched[to:from]) {
		view := unmatchedView{
			notificationView: viewNotification(u.Notification, u.Reason),
			Payer:            u.Payer, Amount: u.Amount, Candidates: append([]string{}, u.Candidates...),
		}
		for _, id := range u.Candidates {
			if p := s.book.byID[id]; p != nil {
				view.Payments = append(view.Payments, c.viewPayment(p))
			}
		}
		list = append(list, view)
	}
	return list, older(to)
}

// dropped is how many unmatched deposits were dropped at the cap.
func (c control) dropped() int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.phone.dropped
}

// requests returns a part of the request log and the cursor for the rest. Only what is
// returned is redacted, which takes time.
func (c control) requests(q part) (list []requestView, cursor uint64) {
	l := c.s.log
	l.mu.Lock()
	oldest := l.added - uint64(len(l.ring)) + 1
	from := l.added
	if q.before > 0 {
		from = min(from, q.before-1)
	}
	var entries []logged
	number := from - uint64(q.skip) //nolint:gosec // at most what there is
	for n := number; n >= oldest && n <= from && n > 0 && len(entries) < q.limit; n-- {
		entries = append(entries, l.ring[(uint64(l.next)+n-oldest)%uint64(len(l.ring))]) //nolint:gosec // a place
	}
	l.mu.Unlock()
	list = make([]requestView, len(entries))
	for i, e := range entries {
		list[i] = viewRequest(l.show(e), number-uint64(i))
	}
	if n := len(list); n > 0 && list[n-1].Number > oldest {
		cursor = list[n-1].Number
	}
	return list, cursor
}

func viewRequest(r Request, number uint64) requestView {
	out := requestView{
		Number: number, At: whole(r.Time), Method: readable(r.Method), Path: readable(r.Path), Query: readable(r.Query),
		Body: readable(r.Body), Status: r.Status, Response: readable(r.Response), Fault: r.Fault,
	}
	if sent := readable(r.Sent); r.Fault != "" {
		out.SentStatus, out.Sent = &r.SentStatus, &sent
	}
	return out
}

// readable is a text that a client may have sent in any encoding, or that was cut
// anywhere, as valid UTF-8.
func readable(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

func (c control) countRequests() int {
	c.s.log.mu.Lock()
	defer c.s.log.mu.Unlock()
	return len(c.s.log.ring)
}

// watchRequests makes the next request count as a change. A page that shows requests asks
// for it each time, so that nobody else pays for it.
func (c control) watchRequests() {
	tell := c.s.changes.note
	c.s.log.watcher.Store(&tell)
}

// dropFault removes the rule at a place, if its text is this one. What the other rules
// have counted, and the log, stay.
func (c control) dropFault(place int, text string) bool {
	p := c.s.faults
	p.mu.Lock()
	defer p.mu.Unlock()
	if place < 0 || place >= len(p.plan.Rules) || text != "" && p.plan.Rules[place].line() != text {
		return false
	}
	p.plan.Rules = slices.Delete(slices.Clone(p.plan.Rules), place, place+1)
	p.since = slices.Delete(p.since, place, place+1)
	p.on.Store(len(p.plan.Rules) > 0 || p.plan.Rate > 0)
	return true
}

// buyFrom buys a product from the store of this application.
func (c control) buyFrom(application, product, user string) (Payment, *Error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return asProblem(exported(c.s.store.buyFrom(application, product, user)))
}

// storeApplication saves an application and returns it as saved.
func (c control) storeApplication(a Application) (Application, *Error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.apps.save(a)
}

// beginStream counts a page that listens, so that Close can wait for it. It is false at
// the cap and once the server is closed.
func (c control) beginStream() bool {
	c.s.changes.mu.Lock()
	defer c.s.changes.mu.Unlock()
	if c.s.changes.closed || c.s.changes.streams >= maxStreams {
		return false
	}
	c.s.changes.streams++
	c.s.running.Add(1)
	return true
}

func (c control) endStream() {
	c.s.changes.mu.Lock()
	c.s.changes.streams--
	c.s.changes.mu.Unlock()
	c.s.running.Done()
}

// awaitChange is [changes.await].
func (c control) awaitChange(ctx context.Context, seen uint64) (uint64, bool) {
	return c.s.changes.await(ctx, seen)
}

func (c control) closed() bool { return c.s.isClosed() }

func (c control) logger() *slog.Logger { return c.s.cfg.Logger }

// stopping is closed when the server closes.
func (c control) stopping() <-chan struct{} { return c.s.faults.stop }
