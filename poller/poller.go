package poller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// Poller polls for the payments of one API token. Its methods may be called at once
// from many goroutines. It starts no goroutine of its own.
type Poller struct {
	cfg      Config
	running  atomic.Bool
	counters counters
	refusal  refusal // used by Run alone, of which there is one at a time
}

// New checks cfg and returns a Poller. It sends nothing and starts nothing. The error
// names the field.
func New(cfg Config) (*Poller, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Poller{cfg: cfg}, nil
}

// ErrRunning is returned by Run while another Run of the same Poller is under way: both
// would take payments from the service.
var ErrRunning = errors.New("poller: Run is running already")

// UnhandedError holds the payments that the Sink did not take before Run returned. The
// Poller forgets them and the service does not return them again: save them.
type UnhandedError struct {
	// Payments are complete records, in the order of arrival.
	Payments []payments.Payment
	// Err is the Sink's last error.
	Err error
}

// Error returns a text with the number of payments and the id of the first.
func (e *UnhandedError) Error() string {
	first := ""
	if len(e.Payments) > 0 {
		first = " (first: " + e.Payments[0].ID.String() + ")"
	}
	return fmt.Sprintf("poller: %d payments%s were received and not taken by the Sink; save UnhandedError.Payments: %v",
		len(e.Payments), first, e.Err)
}

// Unwrap returns the Sink's last error.
func (e *UnhandedError) Unwrap() error { return e.Err }

// Run polls until ctx ends, then finishes the work under way and returns. No failure of
// the service or of the Sink ends it, unless Config.StopOnTokenRefused is set. The first
// poll is made at once. Run may be called again after it has returned.
//
// It returns nil if ctx ended and every payment was handed over. Otherwise the
// error is, or wraps, ErrRunning or an error of Ledger.Begin (nothing was done), payments.ErrTokenRefused (only with
// Config.StopOnTokenRefused), and an *UnhandedError with the payments that could not be
// handed over.
func (p *Poller) Run(ctx context.Context) error {
	if !p.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer p.running.Store(false)
	r := &run{cfg: &p.cfg, sink: p.cfg.Sink, journal: noJournal{}, counters: &p.counters, refusal: &p.refusal}
	if p.cfg.Ledger != nil {
		r.sink = p.cfg.Ledger
		err := safecall.Do("Ledger.Begin", func() error {
			r.journal = p.cfg.Ledger.Begin()
			return nil
		})
		if err == nil && r.journal == nil {
			err = errors.New("Ledger.Begin returned no journal")
		}
		if err != nil {
			return fmt.Errorf("poller: nothing was polled: %w", err)
		}
	}
	err := r.poll(ctx)
	if err == nil {
		r.stopped()
	}
	if unhanded := r.lastAttempts(ctx); unhanded != nil {
		// The journal stays open, so that the next start recovers these payments from it.
		return errors.Join(err, unhanded)
	}
	r.closeJournal(ctx)
	return err
}

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
