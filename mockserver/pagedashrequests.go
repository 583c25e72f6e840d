package mockserver

import (
	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashRequests is the request log, newest first.
func (s *Server) dashRequests(c *dashCall) (any, *Error) {
	pager, from, to := web.NewPager(c.Request, s.log.len(), dashPageSize)
	view := web.DashRequests{Pager: pager}
	list, key := s.log.newest(from, to-from)
	for i, r := range list {
		code, _ := errorIn([]byte(r.Response))
		view.Rows = append(view.Rows, web.DashRequest{
			Key: key - uint64(i), Code: code, Bad: code != "" && code != string(CodeNoProcessedPayment) || r.Status >= 400, //nolint:gosec // a small index
			At: r.Time, Method: r.Method, Path: r.Path, Query: r.Query, Body: r.Body, Status: r.Status,
			Response: r.Response, Fault: r.Fault, SentStatus: r.SentStatus, Sent: r.Sent,
		})
	}
	return view, nil
}

func (l *requestLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ring)
}

// newest returns up to n requests, newest first, after leaving out the newest skip.
// Only what is returned is redacted, which takes time. key is the number of the first
// one among all there ever were; the ones behind it count down from there.
func (l *requestLog) newest(skip, n int) (list []Request, key uint64) {
	l.mu.Lock()
	var entries []logged
	end := max(0, len(l.ring)-skip)
	key = l.added - uint64(len(l.ring)-end) //nolint:gosec // at most what was added
	for i := end - 1; i >= max(0, end-n); i-- {
		entries = append(entries, l.ring[(l.next+i)%len(l.ring)])
	}
	l.mu.Unlock()
	for _, e := range entries {
		list = append(list, l.show(e))
	}
	return list, key
}
