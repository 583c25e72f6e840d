package mockserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashSpans are the lengths of time that the clock offers.
var dashSpans = []string{"10s", "1m", "5m", "30m", "1h", "2h", "5h", "10h", "24h"}

// dashClock is the clock and the attempts that it will bring.
func (s *Server) dashClock(*dashCall) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := web.DashClock{Mode: "real", Spans: dashSpans, Next: s.dashNext(), Waiting: s.dashWaiting(dashPageSize)}
	switch {
	case s.clock.stopped:
		view.Mode = "stopped"
	case s.clock.factor > 0:
		view.Mode, view.Factor = "accelerated", s.clock.factor
	}
	return view, nil
}

// rate is how many seconds of the clock pass in one of real time.
func (c *clock) rate() float64 {
	switch {
	case c.stopped:
		return 0
	case c.factor > 0:
		return c.factor
	}
	return 1
}

// doAdvance moves the clock: one of the buttons, or a length of time that is typed.
func (s *Server) doAdvance(c *dashCall) (dashDone, *Error) {
	text := c.value("by")
	if text == "" {
		text = strings.ReplaceAll(c.value("duration"), " ", "")
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxControlAdvance {
		return dashDone{}, invalidParameter("duration", fmt.Sprintf(
			`must be a length of time above 0 and up to "%.0fh", as in "90s", "5m" or "2h30m"`, maxControlAdvance.Hours()))
	}
	problem := s.whileOpen(c.Context(), func(ctx context.Context) error { return s.advance(ctx, d) })
	return dashDone{said: "advanced"}, problem
}

// doJump moves the clock to the next webhook attempt and says how that one ended.
func (s *Server) doJump(c *dashCall) (dashDone, *Error) {
	done := dashDone{said: "jump-none"}
	problem := s.whileOpen(c.Context(), func(ctx context.Context) error {
		if a, ok := s.jump(ctx); ok && a.Err == "" {
			done.said = "jump-delivered"
		} else if ok {
			done.said = "jump-failed"
		}
		return ctx.Err()
	})
	return done, problem
}
