package mockserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxListed is how many entries one answer holds at most, and without a limit.
const maxListed = 1000

// part reads ?status=&before=&limit=. The statuses are those that the list knows.
func (c *call) part(statuses ...string) (q part, problem *Error) {
	q.limit = maxListed
	if q.status, problem = c.param("status"); problem != nil {
		return q, problem
	}
	if q.status != "" && !slices.Contains(statuses, q.status) {
		if len(statuses) == 0 {
			return q, invalidParameter("status", "is unknown here: this list cannot be filtered by status")
		}
		return q, invalidParameter("status", "must be one of "+strings.Join(statuses, ", "))
	}
	before, problem := c.number("before", 1, 1<<53)
	if problem != nil {
		return q, problem
	}
	limit, problem := c.number("limit", 1, maxListed)
	if limit > 0 {
		q.limit = int(limit) //nolint:gosec // at most maxListed
	}
	q.before = before
	return q, problem
}

// number reads a query parameter that is a whole number, 0 without it.
func (c *call) number(name string, least, most uint64) (uint64, *Error) {
	text, problem := c.param(name)
	if text == "" || problem != nil {
		return 0, problem
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, invalidParameter(name, fmt.Sprintf("must be a whole number from %d to %d", least, most))
	}
	return n, nil
}

// listed is the answer of a list: {NAME:[…],"next":51}, without next at its end.
func listed(name string, list any, cursor uint64) map[string]any {
	out := map[string]any{name: list}
	if cursor > 0 {
		out["next"] = cursor
	}
	return out
}

func (c control) listPayments(r *call) (any, *Error) {
	q, problem := r.part(words(paymentStatuses)...)
	list, cursor := c.payments(q)
	return listed("payments", list, cursor), problem
}

func (c control) listDeliveries(r *call) (any, *Error) {
	q, problem := r.part(words(deliveryStatuses)...)
	list, cursor := c.deliveries(q)
	return listed("deliveries", list, cursor), problem
}

func (c control) listRequests(r *call) (any, *Error) {
	q, problem := r.part()
	list, cursor := c.requests(q)
	return listed("requests", list, cursor), problem
}

func (c control) listNotifications(r *call) (any, *Error) {
	q, problem := r.part()
	list, cursor := c.notifications(q)
	return listed("notifications", list, cursor), problem
}

// listUnmatched also answers how many deposits were dropped at the cap.
func (c control) listUnmatched(r *call) (any, *Error) {
	q, problem := r.part()
	list, cursor := c.unmatched(q)
	out := listed("unmatched", list, cursor)
	out["dropped"] = c.dropped()
	return out, problem
}

func (c control) listAttempts(r *call) (any, *Error) {
	limit, problem := r.number("limit", 1, maxListed)
	if limit == 0 {
		limit = maxListed
	}
	return listed("attempts", c.attempts(int(limit)), 0), problem
}

// listApplications answers the applications without their tokens.
func (c control) listApplications(*call) (any, *Error) {
	list := []applicationView{}
	for _, a := range c.s.Applications() {
		list = append(list, c.viewApplication(a))
	}
	return listed("applications", list, 0), nil
}

func (c control) listProducts(*call) (any, *Error) {
	list := []productView{}
	for _, p := range c.s.Products() {
		list = append(list, productView(p))
	}
	return listed("products", list, 0), nil
}

func (c control) listUsers(*call) (any, *Error) {
	list := []userView{}
	for _, u := range c.s.StoreUsers() {
		list = append(list, userView(u))
	}
	return listed("users", list, 0), nil
}

// words are statuses as plain text.
func words[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
