package webhook

import "github.com/google/uuid"

// recent remembers the last size ids, and whether they were granted.
type recent struct {
	size    int
	granted map[uuid.UUID]bool
	ring    []uuid.UUID // in the order of their arrival, from oldest on
	oldest  int
}

func newRecent(size int) *recent {
	return &recent{size: size, granted: make(map[uuid.UUID]bool)}
}

func (r *recent) get(id uuid.UUID) (granted, known bool) {
	granted, known = r.granted[id]
	return granted, known
}

// add remembers id and forgets the oldest one if there are too many. An id that is
// known keeps its place.
func (r *recent) add(id uuid.UUID, granted bool) {
	_, known := r.granted[id]
	switch {
	case known:
	case len(r.ring) < r.size:
		r.ring = append(r.ring, id)
	default:
		delete(r.granted, r.ring[r.oldest])
		r.ring[r.oldest] = id
		r.oldest = (r.oldest + 1) % r.size
	}
	r.granted[id] = granted
}
