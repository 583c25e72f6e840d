package mockserver

import "context"

// changes lets pages wait until something has changed. While nobody waits, a
// change costs one addition. It is guarded by Server.mu.
type changes struct {
	generation uint64
	wake       chan struct{} // made by the first who waits, closed by the next change
	streams    int           // pages that listen
}

// changed tells everyone who waits that something is different now. The caller
// holds s.mu. It never blocks.
func (s *Server) changed() {
	s.changes.generation++
	if s.changes.wake != nil {
		close(s.changes.wake)
		s.changes.wake = nil
	}
}

// awaitChange waits until the generation is another one than seen, and returns it:
// begin with 0, read what there is to show, and come back with what was returned.
// A change between two calls is never missed; several may be told as one. It is
// false when ctx has ended or the server is closed.
func (s *Server) awaitChange(ctx context.Context, seen uint64) (generation uint64, ok bool) {
	for {
		s.mu.Lock()
		generation, closed := s.changes.generation, s.closed
		if s.changes.wake == nil {
			s.changes.wake = make(chan struct{})
		}
		wake := s.changes.wake
		s.mu.Unlock()
		if closed || generation != seen {
			return generation, !closed
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return seen, false
		}
	}
}
