package webhook

import (
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// refusals remembers the ids that the service has just said "no" to. A "no" is not
// final, but anyone who knows an unpaid id could otherwise make a confirm of every
// delivery, as fast as the service answers.
type refusals struct {
	interval time.Duration // not above 0: nothing is remembered

	mu   sync.Mutex
	last *recent[time.Time]
}

// refusalsKept bounds the memory; a stranger can push ids out, for a confirm each.
const refusalsKept = 4096

func newRefusals(interval time.Duration) *refusals {
	return &refusals{interval: interval, last: newRecent[time.Time](refusalsKept)}
}

// justRefused reports whether id was refused less than the interval ago.
func (r *refusals) justRefused(id uuid.UUID) bool {
	if r.interval <= 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.last.get(id)
	return known && time.Since(at) < r.interval
}

// note remembers id if err is an answer of the service that says "no".
func (r *refusals) note(id uuid.UUID, err error) {
	e, ok := errors.AsType[*payments.Error](err)
	if r.interval <= 0 || !ok || e.Code == "" || errors.Is(err, payments.ErrAmbiguous) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.add(id, time.Now())
}
