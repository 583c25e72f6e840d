package webhook

import (
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// refusals remembers the ids that the service has just rejected. A rejection is not final,
// but without this anyone who knows an unpaid id could cause a confirm with every delivery,
// as fast as the service answers.
type refusals struct {
	interval time.Duration // not above 0: nothing is remembered

	mu   sync.Mutex
	last *boundedMap[time.Time]
}

// refusalsKept bounds the memory. A stranger can push ids out, at the price of a confirm each.
const refusalsKept = 4096

func newRefusals(interval time.Duration) *refusals {
	return &refusals{interval: interval, last: newBoundedMap[time.Time](refusalsKept)}
}

// justRefused reports whether the service rejected id less than the interval ago.
func (r *refusals) justRefused(id uuid.UUID) bool {
	if r.interval <= 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.last.get(id)
	return known && time.Since(at) < r.interval
}

// add remembers id if err is a rejection by the service.
func (r *refusals) add(id uuid.UUID, err error) {
	e, ok := errors.AsType[*payments.Error](err)
	if r.interval <= 0 || !ok || e.Code == "" || errors.Is(err, payments.ErrAmbiguous) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.add(id, time.Now())
}

// boundedMap is a map with the last size ids that were added: the oldest goes first.
type boundedMap[T any] struct {
	size   int
	known  map[uuid.UUID]T
	ring   []uuid.UUID // in order of arrival, starting at oldest
	oldest int
}

func newBoundedMap[T any](size int) *boundedMap[T] {
	return &boundedMap[T]{size: size, known: make(map[uuid.UUID]T)}
}

func (m *boundedMap[T]) get(id uuid.UUID) (value T, known bool) {
	value, known = m.known[id]
	return value, known
}

// add adds id and drops the oldest one if there are too many. An id that is in the map keeps
// its place.
func (m *boundedMap[T]) add(id uuid.UUID, value T) {
	_, known := m.known[id]
	switch {
	case known:
	case len(m.ring) < m.size:
		m.ring = append(m.ring, id)
	default:
		delete(m.known, m.ring[m.oldest])
		m.ring[m.oldest] = id
		m.oldest = (m.oldest + 1) % m.size
	}
	m.known[id] = value
}
