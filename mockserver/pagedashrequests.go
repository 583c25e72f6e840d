package mockserver

import (
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashRequests is the request log, newest first.
func (s *Server) dashRequests(c *dashCall) (any, *Error) {
	s.watchRequests()
	pager, from, to := web.NewPager(c.Request, s.log.len(), dashPageSize)
	view := web.DashRequests{Pager: pager}
	list, key := s.log.newest(from, to-from)
	for i, r := range list {
		code, _ := errorIn([]byte(r.Response))
		view.Rows = append(view.Rows, web.DashRequest{
			Key: key - uint64(i), Code: code, Bad: code != "" && code != string(CodeNoProcessedPayment) || r.Status >= 400,
			At: r.Time, Method: readable(r.Method), Path: readable(r.Path), Query: readable(r.Query), Body: readable(r.Body),
			Status: r.Status, Response: readable(r.Response), Fault: r.Fault, SentStatus: r.SentStatus, Sent: readable(r.Sent),
		})
	}
	return view, nil
}

// readable is a text that a client may have sent in any encoding, or that was cut
// anywhere, as a page may show it.
func readable(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// watchRequests makes the next request count as a change. Only a page that shows requests
// asks for it, each time again: nobody else pays for it.
func (s *Server) watchRequests() {
	tell := s.tellChange
	s.log.watcher.Store(&tell)
}

func (s *Server) tellChange() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.note()
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
