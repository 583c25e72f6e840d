package inbox

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/webhook"
)

// standings remembers what the ledger has said, so that webhooks of ids that were seen
// lately, repeats above all, cost no query. It may be out of date in one direction only:
// what is handled stays so, and what it takes for expected may be handled by now, in
// another process, which costs one confirm more.
type standings struct {
	mu       sync.Mutex
	new, old map[uuid.UUID]known
}

// known has no pointer, so that the garbage collector passes over the maps.
type known struct {
	standing webhook.Standing
	at       time.Duration // since started
}

var started = time.Now()

// expectedFor is how long "expected" is believed: it ends with Config.OutstandingFor.
const expectedFor = time.Hour

func (k known) valid() bool {
	return k.standing == webhook.StandingHandled || k.standing == webhook.StandingExpected && time.Since(started)-k.at < expectedFor
}

// standingsKept bounds each of the two generations: a few MB in all.
const standingsKept = 1 << 15

func (s *standings) get(id uuid.UUID) (webhook.Standing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, found := s.new[id]
	if !found {
		k = s.old[id]
	}
	return k.standing, k.valid()
}

// add remembers a standing. Strangers' ids are not remembered: there is no end of them.
func (s *standings) add(id uuid.UUID, standing webhook.Standing) {
	if standing == webhook.StandingUnknown {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.new) >= standingsKept {
		s.old, s.new = s.new, nil
	}
	if s.new == nil {
		s.new = make(map[uuid.UUID]known)
	}
	s.new[id] = known{max(standing, s.new[id].standing, s.old[id].standing), time.Since(started)}
}
