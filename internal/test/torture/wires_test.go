//go:build unix

package torture

import (
	"slices"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/internal/test/pgwire"
)

// wires cuts and stalls the merchants' connections to PostgreSQL.
type wires struct {
	mu      sync.Mutex
	strikes []*strike
	struck  []span // when, for those that may be blamed on it
}

// strike is a fault for one of the next messages.
type strike struct {
	left   int // messages until it is the one
	action pgwire.Action
	done   chan struct{}
}

func (w *wires) hook(pgwire.Message) pgwire.Action {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.strikes) == 0 {
		return pgwire.Pass
	}
	next := w.strikes[0]
	if next.left--; next.left > 0 {
		return pgwire.Pass
	}
	w.strikes = w.strikes[1:]
	now := time.Now()
	w.struck = append(w.struck, span{now, now.Add(stuck(next.action))})
	close(next.done)
	return next.action
}

// stuck returns how long a strike may affect a merchant. After a stall that is the longest
// of the merchant's own timeouts.
func stuck(a pgwire.Action) time.Duration {
	if a == pgwire.Stall {
		return 30 * time.Second
	}
	return time.Second
}

// strike hits the n-th message from now on and reports whether it came in time.
func (w *wires) strike(n int, action pgwire.Action) bool {
	s := &strike{left: n, action: action, done: make(chan struct{})}
	w.mu.Lock()
	w.strikes = append(w.strikes, s)
	w.mu.Unlock()
	select {
	case <-s.done:
		return true
	case <-time.After(5 * time.Second): // the database may be away
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.strikes, s)
	if i >= 0 {
		w.strikes = slices.Delete(w.strikes, i, i+1)
	}
	return i < 0
}

// wereStruck reports whether a connection was hit in that period.
func (w *wires) wereStruck(in span) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.struck, in.overlaps)
}
