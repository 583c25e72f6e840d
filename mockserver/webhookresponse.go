package mockserver

import (
	"context"
	"io"
	"time"
)

const (
	// maxResponses is how many answers of receivers are kept, each at most maxLogged.
	maxResponses = 10_000
	// responseTime is how long, in real time, the body of an answer may take. Its
	// status has come, and that is what counts: nobody waits for the rest.
	responseTime = time.Second
)

// readResponse reads the body of a receiver's answer, without tokens. stop ends the
// request whose answer it is.
func (s *Server) readResponse(body io.Reader, stop context.CancelFunc) string {
	// Within Config.Patience, or a receiver that has answered would count as hanging.
	timer := time.AfterFunc(min(responseTime, s.cfg.Patience/2), stop)
	defer timer.Stop()
	raw, _ := io.ReadAll(io.LimitReader(body, 2*maxLogged)) // a part of it is better than nothing
	return s.log.tokens.First(string(raw), maxLogged)
}

// responses are the attempts that have a Response, the last maxResponses of them.
type responses struct {
	ring []*attempt
	next int
}

// keep notes the answer to an attempt, and forgets the oldest one at the cap.
func (r *responses) keep(a *attempt, response string) {
	switch {
	case response == "":
		return
	case len(r.ring) < maxResponses:
		r.ring = append(r.ring, a)
	default:
		r.ring[r.next].Response = ""
		r.ring[r.next] = a
		r.next = (r.next + 1) % maxResponses
	}
	a.Response = response
}
