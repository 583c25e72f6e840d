package mockserver

import "context"

// AwaitChange and Generation are what pages wait with.
func (s *Server) AwaitChange(ctx context.Context, seen uint64) (uint64, bool) {
	return s.changes.await(ctx, seen)
}

// Generation counts the changes so far.
func (s *Server) Generation() uint64 {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	return s.changes.generation
}

// ControlRoutes are the calls of the control API as "METHOD /path".
func ControlRoutes() []string {
	var list []string
	for _, r := range controlRoutes {
		list = append(list, r.method+" "+r.path)
	}
	return list
}
