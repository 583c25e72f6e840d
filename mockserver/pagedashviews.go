package mockserver

import (
	"slices"
	"strconv"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

const (
	dashPageSize = 50
	dashRecent   = 5 // payments on the overview and on the phone's page
	dashRules    = 4 * dashPageSize
	dashStrikes  = 50 // entries of the fault log for each operation
)

// dashCount is how many payments or deliveries have a status.
type dashCount struct {
	Status  string
	Count   int
	Current bool
}

// dashFilter is what a list is filtered by: ?status=, "" for a status that does not exist.
type dashFilter struct {
	Status   string
	Statuses []dashCount
	Total    int // of all statuses
	web.Pager
}

// filter chooses the part of a list that the page of the request shows.
func filter[S ~string](v *visit, statuses []S, counts map[S]int) (f dashFilter, q part) {
	if status := v.param("status"); slices.Contains(statuses, S(status)) {
		f.Status = status
	}
	for _, status := range statuses {
		f.Statuses = append(f.Statuses, dashCount{string(status), counts[status], string(status) == f.Status})
		f.Total += counts[status]
	}
	n := f.Total
	if f.Status != "" {
		n = counts[S(f.Status)]
	}
	f.Pager, q = v.page(n)
	q.status = f.Status
	return f, q
}

// page cuts a list of n entries into pages.
func (v *visit) page(n int) (web.Pager, part) {
	pager, from, to := web.NewPager(v.Request, n, dashPageSize)
	return pager, part{skip: from, limit: to - from}
}

func (v *visit) dashOverview() (any, *Error) {
	summary := v.control.summary(dashRecent)
	view := struct {
		summaryView
		Statuses []dashCount
	}{summaryView: summary}
	for _, status := range paymentStatuses {
		view.Statuses = append(view.Statuses, dashCount{Status: string(status), Count: summary.Payments[status]})
	}
	return view, nil
}

func (v *visit) dashPayments() (any, *Error) {
	f, q := filter(v, paymentStatuses, v.control.countPayments())
	rows, _ := v.control.payments(q)
	return struct {
		dashFilter
		Rows []paymentView
	}{f, rows}, nil
}

func (v *visit) dashPayment() (any, *Error) {
	id := v.PathValue("id")
	p, problem := v.control.payment(id)
	if problem != nil {
		return nil, problem
	}
	record, _ := v.control.record(id)
	events, _ := v.control.timeline(id)
	view := struct {
		paymentView
		Checkout, Record string
		Timeline         []eventView
		Webhook          *deliveryView
	}{p, checkoutRoot + "/" + id, web.Indent(record), events, nil}
	if d, ok, _ := v.control.delivery(id); ok {
		view.Webhook = &d
	}
	return view, nil
}

func (v *visit) dashDeliveries() (any, *Error) {
	f, q := filter(v, deliveryStatuses, v.control.state().Deliveries)
	rows, _ := v.control.deliveries(q)
	return struct {
		dashFilter
		Rows    []deliveryView
		Next    *waitingView
		Webhook bool
	}{f, rows, v.control.nextAttempt(), v.control.anyWebhook()}, nil
}

func (v *visit) dashPhone() (any, *Error) {
	waiting, _ := v.control.payments(part{status: string(StatusWaiting), limit: dashRecent})
	recent, _ := v.control.notifications(part{limit: dashPageSize})
	view := struct {
		Banks   []web.Option
		Waiting []paymentView
		Recent  []notificationView
	}{nil, waiting, recent}
	for _, b := range bankList {
		view.Banks = append(view.Banks, web.Option{Value: b.pkg, Label: b.name})
	}
	return view, nil
}

func (v *visit) dashUnmatched() (any, *Error) {
	pager, q := v.page(v.control.state().Unmatched)
	rows, _ := v.control.unmatched(q)
	return struct {
		Pager   web.Pager
		Rows    []unmatchedView
		Dropped int
	}{pager, rows, v.control.dropped()}, nil
}

// newest are the entries of a list that the page shows, newest first.
func newest[T any](q part, list []T) []T {
	list = slices.Clone(list[len(list)-q.skip-q.limit : len(list)-q.skip])
	slices.Reverse(list)
	return list
}

// dashStore are the products of the game store; ?edit= opens the form of one.
func (v *visit) dashStore() (any, *Error) {
	products := v.control.s.Products()
	pager, q := v.page(len(products))
	view := struct {
		Applications []string
		Products     []Product
		Edit         Product
		Pager        web.Pager
	}{Products: newest(q, products), Pager: pager}
	for _, app := range v.control.s.Applications() {
		view.Applications = append(view.Applications, app.Name)
	}
	if i := slices.IndexFunc(products, func(p Product) bool { return p.ID == v.param("edit") }); i >= 0 {
		view.Edit = products[i]
	}
	return view, nil
}

// dashUsers are the users of the game store; ?edit= opens the form of one.
func (v *visit) dashUsers() (any, *Error) {
	users := v.control.s.StoreUsers()
	pager, q := v.page(len(users))
	view := struct {
		Users []StoreUser
		Edit  StoreUser
		Pager web.Pager
	}{Users: newest(q, users), Pager: pager}
	if i := slices.IndexFunc(users, func(u StoreUser) bool { return u.ID == v.param("edit") }); i >= 0 {
		view.Edit = users[i]
	}
	return view, nil
}

// dashApplication is an application with its place in the list, from 1.
type dashApplication struct {
	Number int
	Application
}

// dashOption is one choice of a dialect.
type dashOption struct {
	Name, Chosen string
	Values       []string
}

// dashApplications is the list of applications; ?edit= with a number opens the form of one.
// No address holds a token.
func (v *visit) dashApplications() (any, *Error) {
	view := struct {
		Rows    []dashApplication
		Edit    dashApplication // Number is 0 for a new one
		Options []dashOption
	}{}
	for i, a := range v.control.s.Applications() {
		row := dashApplication{i + 1, a}
		if view.Rows = append(view.Rows, row); strconv.Itoa(row.Number) == v.param("edit") {
			view.Edit = row
		}
	}
	for i, o := range DialectOptions() {
		view.Options = append(view.Options, dashOption{o.Name, o.Values[view.Edit.Dialect.choice[i]], o.Values})
	}
	return view, nil
}

// dashSpans are the lengths of time that the clock offers.
var dashSpans = []string{"10s", "1m", "5m", "30m", "1h", "2h", "5h", "10h", "24h"}

func (v *visit) dashClock() (any, *Error) {
	return struct {
		clockView
		Spans   []string
		Next    *waitingView
		Waiting []waitingView
	}{v.control.clock(), dashSpans, v.control.nextAttempt(), v.control.attempts(dashPageSize)}, nil
}

// dashRule is one fault rule: which calls of which operation, and what happens. Line is all
// of it, for the form that removes it.
type dashRule struct{ Operation, Calls, What, Line string }

func (v *visit) dashFaults() (any, *Error) {
	v.control.watchRequests()
	set := v.control.s.Faults()
	view := struct {
		Rules             []dashRule
		More              int
		Chance            string
		Log               []FaultEvent
		Operations, Kinds []web.Option
	}{More: max(0, len(set.Rules)-dashRules), Chance: set.chance()}
	for _, f := range set.Rules[:min(len(set.Rules), dashRules)] {
		view.Rules = append(view.Rules, dashRule{f.Operation, f.calls(), f.String(), f.line()})
	}
	shown := map[string]int{}
	for _, e := range slices.Backward(v.control.s.FaultLog()) {
		if shown[e.Operation]++; shown[e.Operation] <= dashStrikes {
			view.Log = append(view.Log, e)
		}
	}
	slices.SortStableFunc(view.Log, func(a, b FaultEvent) int {
		return slices.Index(faultOperations, a.Operation) - slices.Index(faultOperations, b.Operation)
	})
	for _, op := range faultOperations {
		view.Operations = append(view.Operations, web.Option{Value: op, Label: op + " · " + v.t("dash.op."+op)})
	}
	for _, kind := range slices.Concat(answerFaults, webhookFaults[:len(webhookFaults)-1]) { // drop-after is in both
		view.Kinds = append(view.Kinds, web.Option{Value: kind, Label: kind + " · " + v.t("dash.kind."+kind)})
	}
	return view, nil
}

func (v *visit) dashRequests() (any, *Error) {
	v.control.watchRequests()
	pager, q := v.page(v.control.countRequests())
	rows, _ := v.control.requests(q)
	return struct {
		Pager web.Pager
		Rows  []requestView
	}{pager, rows}, nil
}
