package mockserver

import (
	"net"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
)

// serveFaulty answers a call that a fault has struck. The log comes before anything that
// the client sees, and holds both: what the service answered, and what was sent.
func serveFaulty(s *Server, w http.ResponseWriter, c *call, arrived time.Time, route *apiRoute, problem *Error, f *Fault) {
	if f.Kind == faultDelayBefore && !s.faults.wait(f.Delay, nil) {
		s.log.add(c.struck(arrived, reply{}, sent{fault: f.String() + ": the server was closed meanwhile, nothing was done"}))
		hangUp(w, false)
		return
	}
	switch f.Kind {
	case faultDropBefore, faultResetBefore:
		s.log.add(c.struck(arrived, reply{}, sent{fault: f.String() + ": nothing was done"}))
		hangUp(w, f.Kind == faultResetBefore)
		return
	case faultStatusBefore:
		refused := refusal(s, c, f)
		s.log.add(c.struck(arrived, reply{}, sent{f.String() + ": nothing was done", refused.status, refused.body}))
		refused.write(w)
		return
	}
	sendFaulty(s, w, c, arrived, f, answerCall(s, c, route, problem))
}

// sendFaulty sends the client a damaged response to what was done.
func sendFaulty(s *Server, w http.ResponseWriter, c *call, arrived time.Time, f *Fault, answer reply) {
	out, kind := answer, f.Kind
	if kind == faultCut && len(answer.body) == 0 {
		kind = faultDropAfter // there is nothing to cut
	}
	switch kind {
	case faultDropAfter, faultResetAfter:
		s.log.add(c.struck(arrived, answer, sent{fault: f.String() + ": dropped after the commit"}))
		hangUp(w, kind == faultResetAfter)
		return
	case faultCut:
		out.body = answer.body[:min(f.Bytes, len(answer.body)-1)]
	case faultStatusAfter:
		out = refusal(s, c, f)
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
	s.log.add(c.struck(arrived, answer, sent{f.String() + ": answered so after the commit", out.status, out.body}))
	switch kind {
	case faultCut:
		out.writeHead(w, len(answer.body))
		_, _ = w.Write(out.body)
		_ = http.NewResponseController(w).Flush()
		hangUp(w, false)
	case faultDrip:
		drip(s, w, c, out, f.Delay)
	case faultDelayAfter:
		s.faults.wait(f.Delay, c.Context().Done())
		out.write(w)
	default:
		out.write(w)
	}
}

// faultPage is a typical answer of a proxy in front of a service.
const faultPage = "<!DOCTYPE html>\n<html><head><title>One moment</title></head><body><h1>One moment, please</h1></body></html>\n"

// refusal is an error that no endpoint has made, in the application's dialect.
func refusal(s *Server, c *call, f *Fault) reply {
	out := dialectOf(s, c).failure(&Error{Code: CodeFaultInjected, Message: "a fault rule answers this call: " + f.String()})
	out.status, out.retryAfter = f.Status, f.RetryAfter
	return out
}

// drip sends the body byte by byte, the last one after d.
func drip(s *Server, w http.ResponseWriter, c *call, out reply, d time.Duration) {
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
		panic(http.ErrAbortHandler) // HTTP/2, or another writer: the closest there is
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
