package poller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

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
// error is, or wraps, ErrRunning (nothing was done), payments.ErrTokenRefused (only with
// Config.StopOnTokenRefused), and an *UnhandedError with the payments that could not be
// handed over.
func (p *Poller) Run(ctx context.Context) error {
	if !p.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer p.running.Store(false)
	r := &run{cfg: &p.cfg, sink: p.cfg.Sink, journal: noJournal{}, counters: &p.counters, refusal: &p.refusal}
	if p.cfg.Ledger != nil {
		r.sink, r.journal = p.cfg.Ledger, p.cfg.Ledger.Begin()
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
