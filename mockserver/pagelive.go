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
	// maxStreams bounds the pages that listen at once; others ask now and then.
	maxStreams = 64
	// heartbeat finds out that a browser has gone without a word.
	heartbeat = 15 * time.Second
	// breath is the least time between two events: a busy server is no reason to load
	// a page a thousand times a second.
	breath = 100 * time.Millisecond
)

// changes tells a page, by server-sent events, each time that something has changed. The
// event holds the number of the change and nothing that is anybody's business.
func (v *visit) changes() {
	h := v.w.Header()
	web.Secure(h)
	if _, inMemory := v.w.(*direct.Writer); inMemory {
		http.Error(v.w, "the direct transport has no streams", http.StatusNotImplemented)
		return
	}
	if !v.server.beginStream() {
		h.Set("Retry-After", "5")
		http.Error(v.w, "too many pages listen, or the server is closed", http.StatusServiceUnavailable)
		return
	}
	defer v.server.endStream()
	h.Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Time{}) // a server without deadlines has none to lift
	stream := &stream{visit: v, control: control}
	if stream.send("retry: 2000\n\n") {
		stream.run()
	}
}

type stream struct {
	*visit
	control *http.ResponseController
}

func (s *stream) run() {
	var seen uint64
	for {
		generation, changed := s.awaitOrBeat(seen)
		switch {
		case s.Context().Err() != nil || s.server.isClosed():
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

// awaitOrBeat waits for a change, but no longer than until the next sign of life is due.
func (s *stream) awaitOrBeat(seen uint64) (uint64, bool) {
	ctx, cancel := context.WithTimeout(s.Context(), heartbeat)
	defer cancel()
	return s.server.changes.await(ctx, seen)
}

func (s *stream) send(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(2 * heartbeat)) // as above
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

func (s *stream) pause() bool {
	timer := time.NewTimer(breath)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.server.faults.stop: // closed with the server
		return false
	case <-s.Context().Done():
		return false
	}
}

// beginStream counts a stream, so that Close can wait for it. It is false at the cap and
// once the server is closed.
func (s *Server) beginStream() bool {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	if s.changes.closed || s.changes.streams >= maxStreams {
		return false
	}
	s.changes.streams++
	s.running.Add(1)
	return true
}

func (s *Server) endStream() {
	s.changes.mu.Lock()
	s.changes.streams--
	s.changes.mu.Unlock()
	s.running.Done()
}
