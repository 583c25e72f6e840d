package mockserver

import (
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

const (
	dashPageSize = 50
	// dashScan is how many payments are looked at in one go: a page about a million
	// of them must not hold up the API.
	dashScan = 4096
)

var dashStatuses = []Status{StatusCreated, StatusWaiting, StatusProgress, StatusComplete, StatusExpired}

// dashPayments is the list of payments, ?status= chooses.
func (s *Server) dashPayments(c *dashCall) (any, *Error) {
	view := web.DashPayments{Status: c.param("status")}
	if !slices.Contains(dashStatuses, Status(view.Status)) {
		view.Status = ""
	}
	view.Statuses, view.Total = s.countPayments()
	total := view.Total
	for i := range view.Statuses {
		if count := &view.Statuses[i]; count.Status == view.Status {
			count.Current, total = true, int(count.Count)
		}
	}
	pager, from, to := web.NewPager(c.Request, total, dashPageSize)
	view.Pager, view.Rows = pager, s.paymentsFrom(from, to-from, Status(view.Status))
	return view, nil
}

// countPayments counts the payments by status. It gives the lock away between parts.
func (s *Server) countPayments() (counts []web.DashCount, total int) {
	byStatus := map[Status]int64{}
	for more := true; more; {
		s.mu.Lock()
		s.book.expire()
		end := min(total+dashScan, len(s.book.list))
		for _, p := range s.book.list[total:end] {
			byStatus[p.Status]++
		}
		total, more = end, end < len(s.book.list)
		s.mu.Unlock()
	}
	for _, status := range dashStatuses {
		counts = append(counts, web.DashCount{Status: string(status), Count: byStatus[status]})
	}
	return counts, total
}

// paymentsFrom returns up to n of the payments with a status (any if it is empty),
// newest first, leaving out the newest skip.
func (s *Server) paymentsFrom(skip, n int, status Status) (rows []web.DashRow) {
	s.mu.Lock()
	order := s.book.list // it only ever grows
	s.mu.Unlock()
	for end := len(order); end > 0 && len(rows) < n; end -= dashScan {
		s.mu.Lock()
		for _, p := range slices.Backward(order[max(0, end-dashScan):end]) {
			if status != "" && p.Status != status || len(rows) == n {
				continue
			}
			if skip--; skip < 0 {
				rows = append(rows, s.dashRow(p))
			}
		}
		s.mu.Unlock()
	}
	return rows
}

// dashRow is one line about a payment. The caller holds s.mu. Whatever the texts
// say, they hold no token.
func (s *Server) dashRow(p *payment) web.DashRow {
	row := web.DashRow{
		ID: p.ID, Application: p.app.Name, Status: string(p.Status), Created: p.CreatedAt,
		Identifier: s.log.redact(p.Identifier), Title: s.log.redact(p.Title), Payer: s.log.redact(p.Payer),
		Amount: p.AmountDue(),
	}
	if p.Status == StatusProgress || p.Status == StatusComplete {
		row.Amount, row.Paid = p.PaidAmount, true
	}
	if p.delivery != nil {
		row.Delivery = string(p.delivery.status)
	}
	return row
}

// dashTitle is the title of a payment for a line about something else.
func (s *Server) dashTitle(p *payment) string { return s.log.redact(p.Title) }
