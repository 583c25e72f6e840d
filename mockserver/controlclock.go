package mockserver

import (
	"context"
	"fmt"
	"time"
)

// maxControlAdvance keeps a slip of the hand from using up the clock.
const maxControlAdvance = 10 * 365 * 24 * time.Hour

// controlAdvance moves the clock by {"duration":"5m"} and answers {"now":"…"} once
// the attempts on the way have ended.
func (s *Server) controlAdvance(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	text, problem := o.required("duration", "duration")
	if problem != nil {
		return nil, problem
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxControlAdvance {
		return nil, invalidParameter("duration", fmt.Sprintf(
			`must be a length of time from "0s" to "%.0fh", as in "90s", "5m" or "2h30m"`, maxControlAdvance.Hours()))
	}
	if problem := s.whileOpen(c.Context(), func(ctx context.Context) error { return s.advance(ctx, d) }); problem != nil {
		return nil, problem
	}
	return marshal(clockJSON{Now: formatTime(s.Now())}), nil
}

// controlNext moves the clock to the next webhook attempt. It answers {"now":"…"}
// and, when there was one, "attempt".
func (s *Server) controlNext(c *call) ([]byte, *Error) {
	var out clockJSON
	problem := s.whileOpen(c.Context(), func(ctx context.Context) error {
		if a, ok := s.jump(ctx); ok {
			attempt := s.attemptJSON(a)
			out.Attempt = &attempt
		}
		return ctx.Err()
	})
	if problem != nil {
		return nil, problem
	}
	out.Now = formatTime(s.Now())
	return marshal(out), nil
}

// whileOpen runs a move of the clock that ends early when its caller goes away.
func (s *Server) whileOpen(ctx context.Context, move func(context.Context) error) *Error {
	if err := move(ctx); err != nil || s.isClosed() {
		return serverClosed()
	}
	return nil
}
