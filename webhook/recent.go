package webhook

import "github.com/google/uuid"

// recent remembers something about the last size ids.
type recent[T any] struct {
	size   int
	known  map[uuid.UUID]T
	ring   []uuid.UUID // in the order of their arrival, from oldest on
	oldest int
}

func newRecent[T any](size int) *recent[T] {
	return &recent[T]{size: size, known: make(map[uuid.UUID]T)}
}

func (r *recent[T]) get(id uuid.UUID) (value T, known bool) {
	value, known = r.known[id]
	return value, known
}

// add remembers id and forgets the oldest one if there are too many. An id that is
// known keeps its place.
func (r *recent[T]) add(id uuid.UUID, value T) {
	_, known := r.known[id]
	switch {
	case known:
	case len(r.ring) < r.size:
		r.ring = append(r.ring, id)
	default:
		delete(r.known, r.ring[r.oldest])
		r.ring[r.oldest] = id
		r.oldest = (r.oldest + 1) % r.size
	}
	r.known[id] = value
}
