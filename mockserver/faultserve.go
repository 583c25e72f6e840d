package mockserver

import (
	"net"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
)

// sent is what a client got of a call that a fault has struck.
type sent struct {
	fault  string
	status int // 0: no answer at all
	body   []byte
}

// serveFaulty answers a call that a fault has struck. The log comes before whatever
// the client sees, and tells both: what the service answered, or would have, and what
// was sent.
func (s *Server) serveFaulty(w http.ResponseWriter, c *call, arrived time.Time, route *apiRoute, problem *Error, f *Fault) {
	if f.Kind == faultDelayBefore && !s.faults.wait(f.Delay, nil) {
		s.log.add(arrived, c, reply{}, &sent{fault: f.String() + ": the server was closed meanwhile, nothing was done"})
		hangUp(w, false)
		return
	}
	switch f.Kind {
	case faultDropBefore, faultResetBefore:
		s.log.add(arrived, c, reply{}, &sent{fault: f.String() + ": nothing was done"})
		hangUp(w, f.Kind == faultResetBefore)
		return
	case faultStatusBefore:
		refused := s.refusal(c, f)
		s.log.add(arrived, c, reply{}, &sent{f.String() + ": nothing was done", refused.status, refused.body})
		refused.write(w)
		return
	}
	s.sendFaulty(w, c, arrived, f, s.reply(c, route, problem))
}

// sendFaulty tells the client of what was done, badly.
func (s *Server) sendFaulty(w http.ResponseWriter, c *call, arrived time.Time, f *Fault, answer reply) {
	out, kind := answer, f.Kind
	if kind == faultCut && len(answer.body) == 0 {
		kind = faultDropAfter // there is nothing to cut
	}
	switch kind {
	case faultDropAfter, faultResetAfter:
		s.log.add(arrived, c, answer, &sent{fault: f.String() + ": dropped after the commit"})
		hangUp(w, kind == faultResetAfter)
		return
	case faultCut:
		out.body = answer.body[:min(f.Bytes, len(answer.body)-1)]
	case faultStatusAfter:
		out = s.refusal(c, f)
	case faultMalformed:
		out.status, out.body = http.StatusOK, answer.body[:len(answer.body)/2]
		if len(out.body) == 0 {
			out.body = []byte("{")
		}
	case faultHTML:
		out = reply{status: http.StatusOK, body: []byte(faultPage), contentType: "text/html; charset=utf-8"}
	case faultContentType:
		out.contentType = "text/plain; charset=utf-8"
	}
	s.log.add(arrived, c, answer, &sent{f.String() + ": answered so after the commit", out.status, out.body})
	switch kind {
	case faultCut:
		out.writeHead(w, len(answer.body))
		_, _ = w.Write(out.body)
		_ = http.NewResponseController(w).Flush()
		hangUp(w, false)
	case faultDrip:
		s.drip(w, c, out, f.Delay)
	case faultDelayAfter:
		s.faults.wait(f.Delay, c.Context().Done())
		out.write(w)
	default:
		out.write(w)
	}
}

// faultPage is what a proxy in front of a service likes to answer.
const faultPage = "<!DOCTYPE html>\n<html><head><title>One moment</title></head><body><h1>One moment, please</h1></body></html>\n"

// refusal is an error that no endpoint has made, in the application's own words.
func (s *Server) refusal(c *call, f *Fault) reply {
	out := s.dialect(c).failure(&Error{Code: CodeFaultInjected, Message: "a fault rule answers this call: " + f.String()})
	out.status, out.retryAfter = f.Status, f.RetryAfter
	return out
}

// wait lets d pass in real time. It is false when the server closes before; given
// ends the wait as well.
func (p *faults) wait(d time.Duration, given <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-given:
		return true
	case <-p.stop:
		return false
	}
}

// close ends all waits.
func (p *faults) close() { p.stopping.Do(func() { close(p.stop) }) }

// drip sends the body byte by byte, the last one after d.
func (s *Server) drip(w http.ResponseWriter, c *call, out reply, d time.Duration) {
	out.writeHead(w, len(out.body))
	if inMemory, ok := w.(*direct.Writer); ok {
		_, _ = inMemory.Write(out.body)
		inMemory.Drip(d, s.faults.stop)
		return
	}
	control, begun := http.NewResponseController(w), time.Now()
	for i := range out.body {
		if !s.faults.wait(direct.Pause(begun, d, i, len(out.body)), c.Context().Done()) || c.Context().Err() != nil {
			hangUp(w, false)
			return
		}
		if _, err := w.Write(out.body[i : i+1]); err != nil {
			return
		}
		_ = control.Flush() // it fails only where the writer keeps all until the end
	}
}

// hangUp ends the connection: cleanly (FIN), or with a reset (RST).
func hangUp(w http.ResponseWriter, reset bool) {
	if inMemory, ok := w.(*direct.Writer); ok {
		inMemory.HangUp(reset)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2, or somebody else's writer: the nearest there is
	}
	if tcp, ok := rawConn(conn).(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // the connection is given up either way
	}
	_ = conn.Close()
}

// rawConn is the connection under TLS.
func rawConn(conn net.Conn) net.Conn {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return secure.NetConn()
	}
	return conn
}
