package poller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

const (
	defaultIntervalMin     = 3 * time.Second // interface §8
	defaultIntervalMax     = 5 * time.Second
	defaultBackoffMax      = time.Minute
	defaultAcceptTimeout   = 30 * time.Second
	defaultShutdownTimeout = 30 * time.Second
	defaultMaxPending      = 64
)

// Config configures New. Client is required, and so is one of Ledger and Sink. New copies it.
type Config struct {
	// Client is where payments come from: a *payments.Client. Use one Poller per token; the
	// package documentation says what a second one does.
	Client Source
	// Ledger is given every payment, and keeps a journal of the polls: what inbox.Inbox.Poller
	// returns.
	Ledger Ledger
	// Sink is given every payment if there is no Ledger. The rest of this documentation says
	// Sink for either.
	Sink Sink

	// IntervalMin and IntervalMax bound the wait after a poll that found no payment; waits
	// are spread evenly between them. The interface recommends 3 to 5 seconds (§8), which
	// are the defaults. If only one of them is set, the other one is adjusted if it must be.
	IntervalMin, IntervalMax time.Duration
	// BackoffMax bounds every wait after a failure. Waits double, from twice IntervalMin
	// for polls and from 1 s for the Sink; half of each is random, and a Retry-After of
	// the service is honored up to BackoffMax. Default 1 min.
	BackoffMax time.Duration
	// MaxPending is how many payments may wait for a failing Sink. At that number polling
	// stops, before the next poll, until the Sink has taken one. Default 64.
	MaxPending int
	// AcceptTimeout bounds one call of Accept. Nothing is polled meanwhile. Default 30 s.
	AcceptTimeout time.Duration
	// ShutdownTimeout bounds the time that Run gives the Sink after its context has ended. It
	// does not include a poll under way, which takes up to payments.Config.NextTimeout (twice
	// that if the token is refused and TokenSource has another one), and the time of
	// TokenSource. Default 30 s.
	ShutdownTimeout time.Duration
	// StopOnTokenRefused makes Run return when the service refuses the API token. By
	// default Run goes on and polls every BackoffMax: a single 401 from a gateway must not
	// end a shop, and a replaced token is taken from payments.Config.TokenSource at the next
	// poll.
	StopOnTokenRefused bool

	// OnEvent, if set, is called for every event, in Run's goroutine, one after the other.
	// Nothing is polled meanwhile. Its panics are contained.
	OnEvent func(Event)
	// Logger gets a record of every event. At error level: a payment may be at stake (the
	// record of KindAmbiguous has the first 2 KiB of the raw response, or 200 bytes if it holds
	// no part of a record, and the one of KindUnverified the payment's fields), or no token
	// works, because the service refuses it or payments.Config.TokenSource fails (at once, then
	// once an hour, then at info level when a token works again). At warn level: other failures,
	// and KindAmbiguous if there is a Ledger, which records the loss and reports it if it stays
	// open. At debug level: the rest. Default slog.Default(), so that no loss goes unseen.
	Logger *slog.Logger
}

// withDefaults returns a copy with the defaults filled in.
func (cfg Config) withDefaults() Config {
	if cfg.IntervalMin == 0 {
		cfg.IntervalMin = defaultIntervalMin
		if cfg.IntervalMax > 0 {
			cfg.IntervalMin = min(defaultIntervalMin, cfg.IntervalMax)
		}
	}
	cfg.IntervalMax = cmp.Or(cfg.IntervalMax, max(defaultIntervalMax, cfg.IntervalMin))
	cfg.BackoffMax = cmp.Or(cfg.BackoffMax, max(defaultBackoffMax, cfg.IntervalMax))
	cfg.MaxPending = cmp.Or(cfg.MaxPending, defaultMaxPending)
	cfg.AcceptTimeout = cmp.Or(cfg.AcceptTimeout, defaultAcceptTimeout)
	cfg.ShutdownTimeout = cmp.Or(cfg.ShutdownTimeout, defaultShutdownTimeout)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return cfg
}

func (cfg *Config) validate() error {
	switch {
	case cfg.Client == nil:
		return errors.New("poller: Config.Client: is required: pass a *payments.Client")
	case cfg.Ledger == nil && cfg.Sink == nil:
		return errors.New("poller: Config.Ledger: it or Config.Sink is required: it takes the payments")
	case cfg.Ledger != nil && cfg.Sink != nil:
		return errors.New("poller: Config.Sink: Config.Ledger is set as well: set one of them")
	case isLedger(cfg.Sink):
		return errors.New("poller: Config.Sink: it is a ledger, whose journal a Sink cannot use: set Config.Ledger, to Inbox.Poller() of package inbox")
	case cfg.IntervalMin < 0:
		return fmt.Errorf("poller: Config.IntervalMin: %v is negative", cfg.IntervalMin)
	case cfg.IntervalMax < cfg.IntervalMin:
		return fmt.Errorf("poller: Config.IntervalMax: %v is below IntervalMin, %v", cfg.IntervalMax, cfg.IntervalMin)
	case cfg.BackoffMax < cfg.IntervalMax:
		return fmt.Errorf("poller: Config.BackoffMax: %v is below IntervalMax, %v: failures would be polled faster than success",
			cfg.BackoffMax, cfg.IntervalMax)
	case cfg.MaxPending < 0:
		return fmt.Errorf("poller: Config.MaxPending: %d is negative", cfg.MaxPending)
	case cfg.AcceptTimeout < 0:
		return fmt.Errorf("poller: Config.AcceptTimeout: %v is negative", cfg.AcceptTimeout)
	case cfg.ShutdownTimeout < 0:
		return fmt.Errorf("poller: Config.ShutdownTimeout: %v is negative", cfg.ShutdownTimeout)
	}
	return nil
}

// isLedger reports whether the Sink is the poller's or the webhook's side of a ledger. As a Sink it would
// poll without a journal, and a lost response would leave no trace.
func isLedger(s Sink) bool {
	switch s.(type) {
	case Ledger, interface {
		RecordHint(ctx context.Context, id uuid.UUID) error
	}:
		return true
	}
	return false
}
