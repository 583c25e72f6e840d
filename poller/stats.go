package poller

import (
	"sync"
	"time"
)

// Stats are the numbers of a Poller since New. Received = HandedOver + Pending +
// Unhanded at any time.
type Stats struct {
	// Polls is how many polls have begun.
	Polls int64
	// Empty is how many polls found no payment.
	Empty int64
	// Received is how many payments were received for the Sink.
	Received int64
	// HandedOver is how many payments the Sink has taken.
	HandedOver int64
	// Unverified is how many records were received that are not COMPLETE.
	Unverified int64
	// Ambiguous is how many polls may have lost a payment.
	Ambiguous int64
	// Errors is how many polls failed without taking a payment.
	Errors int64
	// SinkErrors is how many calls of the Sink failed.
	SinkErrors int64
	// Unhanded is how many payments Run has returned in an UnhandedError.
	Unhanded int64
	// TokenRefusedSince is when the service began to refuse the API token, or
	// payments.Config.TokenSource to fail; zero if the token works, or if Run was stopped.
	// Alert on it: nothing is received meanwhile.
	TokenRefusedSince time.Time
	// Pending is how many payments the Poller holds now.
	Pending int
	// LastPoll is when the last poll began, LastReceived when the last payment was
	// received, LastHandedOver when the Sink took the last one; zero if never.
	LastPoll, LastReceived, LastHandedOver time.Time
}

// counters guards Stats.
type counters struct {
	mu    sync.Mutex
	stats Stats
}

func (c *counters) update(f func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

// Stats returns a snapshot. It may be called at any time, from OnEvent too.
func (p *Poller) Stats() Stats {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	return p.counters.stats
}
