package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

const (
	// maxStreams bounds the pages that listen at once; others retry later.
	maxStreams = 64
	// heartbeat detects browsers that have gone.
	heartbeat = 15 * time.Second
	// minEventInterval is the minimum time between two events, so that a busy server does not
	// make pages reload a thousand times a second.
	minEventInterval = 100 * time.Millisecond
)

// changes sends a page a server-sent event for each change. The event contains the number of
// the change and no data.
func (v *visit) changes() {
	h := v.w.Header()
	web.Secure(h)
	if _, direct := v.w.(*direct.Writer); direct {
		http.Error(v.w, "the direct transport has no streams", http.StatusNotImplemented)
		return
	}
	if !v.control.beginStream() {
		h.Set("Retry-After", "5")
		http.Error(v.w, "too many pages listen, or the server is closed", http.StatusServiceUnavailable)
		return
	}
	defer v.control.endStream()
	h.Set("Content-Type", "text/event-stream")
	writer := http.NewResponseController(v.w)
	_ = writer.SetReadDeadline(time.Time{}) // unsupported without deadlines
	stream := &stream{visit: v, writer: writer}
	if stream.send("retry: 2000\n\n") {
		stream.run()
	}
}

type stream struct {
	*visit
	writer *http.ResponseController
}

func (s *stream) run() {
	var seen uint64
	for {
		generation, changed := s.awaitOrBeat(seen)
		switch {
		case s.Context().Err() != nil || s.control.closed():
			return
		case !changed:
			if !s.send(": still here\n\n") {
				return
			}
			continue
		}
		seen = generation
		if !s.send(fmt.Sprintf("data: %d\n\n", seen)) || !s.pause() {
			return
		}
	}
}

// awaitOrBeat waits for a change, at most until the next heartbeat.
func (s *stream) awaitOrBeat(seen uint64) (uint64, bool) {
	ctx, cancel := context.WithTimeout(s.Context(), heartbeat)
	defer cancel()
	return s.control.awaitChange(ctx, seen)
}

func (s *stream) send(text string) bool {
	_ = s.writer.SetWriteDeadline(time.Now().Add(2 * heartbeat)) // as above
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return false
	}
	return s.writer.Flush() == nil
}

func (s *stream) pause() bool {
	timer := time.NewTimer(minEventInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.control.stopping(): // closed with the server
		return false
	case <-s.Context().Done():
		return false
	}
}
