package mockserver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/redact"
)

// maxLogged is how many bytes of a request or response body the request log keeps.
const maxLogged = 4 << 10

// Request is one API request as the server saw it. Application tokens, and every
// value of a field or parameter called token, are replaced by "[REDACTED]".
type Request struct {
	// Time is when it came, by the server's clock.
	Time time.Time
	// Method, Path and Query are as sent, each at most its first 4 KiB; Query is
	// without the "?".
	Method, Path, Query string
	// Body is the request body, at most its first 4 KiB. It is empty for a body
	// that was refused for its size.
	Body string
	// Status is the HTTP status of the service's answer; 0 where a fault kept the
	// service from acting.
	Status int
	// Response is the body of the service's answer, at most its first 4 KiB.
	Response string
	// Fault is empty unless a [Fault] has struck the request: then it says what the fault
	// did, as in "drop-after: dropped after the commit".
	Fault string
	// SentStatus and Sent are what the client of a struck request got in place of
	// Status and Response; SentStatus is 0 where it got no response. Without a fault they
	// are not set.
	SentStatus int
	Sent       string
}

// requestLog is a ring of the last requests. It holds them raw: redacting when they are
// read costs the requests nothing. Only show lets an entry out, and show redacts.
type requestLog struct {
	tokens redact.Tokens
	mu     sync.Mutex
	ring   []logged
	next   int
	size   int
	// added is how many requests there ever were.
	added uint64
	// watcher is called once, at the next request; nil while nobody waits.
	watcher atomic.Pointer[func()]
}

type logged struct {
	at                  time.Time
	method, path, query string
	body, response      []byte
	status              int
	sent                *sent // nil: the client got the response
}

// sent is what a client got of a call that a fault has struck.
type sent struct {
	fault  string
	status int // 0: no response at all
	body   []byte
}

// redact takes the tokens out of a text.
func (l *requestLog) redact(text string) string { return l.tokens.Redact(text) }

func newRequestLog(size int) *requestLog {
	return &requestLog{size: size}
}

func (l *requestLog) add(e logged) {
	e.method, e.path, e.query = l.boundedText(e.method), l.boundedText(e.path), l.boundedText(e.query)
	e.body, e.response = l.bounded(e.body), l.bounded(e.response)
	if e.sent != nil {
		e.sent.body = l.bounded(e.sent.body)
	}
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	if len(l.ring) < l.size {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[l.next] = e
	l.next = (l.next + 1) % l.size
}

// tell calls the watcher, if there is one.
func (l *requestLog) tell() {
	if l.watcher.Load() != nil {
		if watcher := l.watcher.Swap(nil); watcher != nil {
			(*watcher)()
		}
	}
}

// bounded cuts a long body. It redacts first: half a token left at the cut would not be
// recognized later.
func (l *requestLog) bounded(body []byte) []byte {
	if len(body) <= maxLogged {
		return body
	}
	return []byte(l.boundedText(string(body)))
}

func (l *requestLog) boundedText(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	text = l.redact(text)
	return text[:min(len(text), maxLogged)]
}

func (l *requestLog) list() []Request {
	l.mu.Lock()
	entries := append(append([]logged(nil), l.ring[l.next:]...), l.ring[:l.next]...)
	l.mu.Unlock()
	list := make([]Request, len(entries))
	for i, e := range entries {
		list[i] = l.show(e)
	}
	return list
}

// show is an entry as it may leave the log.
func (l *requestLog) show(e logged) Request {
	r := Request{
		Time: e.at, Method: l.redact(e.method), Path: l.redact(e.path), Query: l.redact(e.query),
		Body: l.redact(string(e.body)), Status: e.status, Response: l.redact(string(e.response)),
	}
	if e.sent != nil {
		r.Fault, r.SentStatus, r.Sent = e.sent.fault, e.sent.status, l.redact(string(e.sent.body))
	}
	return r
}
