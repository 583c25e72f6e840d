package poller

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	defaultIntervalMin     = 3 * time.Second // interface §8
	defaultIntervalMax     = 5 * time.Second
	defaultBackoffMax      = time.Minute
	defaultAcceptTimeout   = 30 * time.Second
	defaultShutdownTimeout = 30 * time.Second
	defaultMaxPending      = 64
)

// Config configures New. Client and Sink are required. New copies it.
type Config struct {
	// Client is where payments come from: a *payments.Client. Its token has one Poller; the
	// comment of the package says what a second one does.
	Client Source
	// Sink is given every payment.
	Sink Sink

	// IntervalMin and IntervalMax bound the wait after a poll that found no payment; it
	// is spread evenly between them. The interface recommends 3 to 5 seconds (§8), which
	// are the defaults. If one of them is set, the other one follows where it must.
	IntervalMin, IntervalMax time.Duration
	// BackoffMax bounds every wait after a failure. Waits double from twice IntervalMin
	// for polls and from 1 s for the Sink, half of each is random, and a Retry-After of
	// the service is honoured up to BackoffMax. Default 1 min.
	BackoffMax time.Duration
	// MaxPending is how many payments may wait for a failing Sink. At that number polling
	// stops, before the next poll, until the Sink has taken one. Default 64.
	MaxPending int
	// AcceptTimeout bounds one call of Sink.Accept. Nothing is polled meanwhile. Default
	// 30 s.
	AcceptTimeout time.Duration
	// ShutdownTimeout bounds all that Run does for the Sink after its context has ended.
	// It does not bound a poll that is under way, which takes up to
	// payments.Config.NextTimeout, twice that if the token is refused and TokenSource has
	// another one, and the time of TokenSource, and for which the time stands still. Default
	// 30 s.
	ShutdownTimeout time.Duration
	// StopOnTokenRefused makes Run return when the service refuses the API token. By
	// default Run goes on and polls every BackoffMax: one 401 of a gateway must not
	// end a shop, and a token that was replaced is taken from
	// payments.Config.TokenSource at the next poll.
	StopOnTokenRefused bool

	// OnEvent, if set, is called for everything that happens, in Run's goroutine, one
	// event after the other. Nothing is polled meanwhile. Its panics are contained.
	OnEvent func(Event)
	// Logger gets a record of every event: at error level where a payment may be at
	// stake (the record of KindAmbiguous has the first 2 KiB of the raw answer, or 200 bytes
	// if it holds nothing of a record, and the one of KindUnverified the payment's fields)
	// or no token works, because the service refuses it or payments.Config.TokenSource
	// fails (at once, then once an hour, then info when a token works again), warn for other
	// failures, debug for the rest. With a Journal as Sink, KindAmbiguous is a warning: the
	// Journal keeps the loss, and says what stays open.
	// Default slog.Default(), so that no loss goes unseen.
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
	setDefault(&cfg.IntervalMax, max(defaultIntervalMax, cfg.IntervalMin))
	setDefault(&cfg.BackoffMax, max(defaultBackoffMax, cfg.IntervalMax))
	setDefault(&cfg.MaxPending, defaultMaxPending)
	setDefault(&cfg.AcceptTimeout, defaultAcceptTimeout)
	setDefault(&cfg.ShutdownTimeout, defaultShutdownTimeout)
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return cfg
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (cfg *Config) validate() error {
	switch {
	case cfg.Client == nil:
		return errors.New("poller: Config.Client: is required: pass a *payments.Client")
	case cfg.Sink == nil:
		return errors.New("poller: Config.Sink: is required: it takes the payments")
	case cfg.IntervalMin < 0:
		return fmt.Errorf("poller: Config.IntervalMin: %v is negative", cfg.IntervalMin)
	case cfg.IntervalMax < cfg.IntervalMin:
		return fmt.Errorf("poller: Config.IntervalMax: %v is below IntervalMin, %v", cfg.IntervalMax, cfg.IntervalMin)
	case cfg.BackoffMax < cfg.IntervalMax:
		return fmt.Errorf("poller: Config.BackoffMax: %v is below IntervalMax, %v: a failure would be polled faster than success", cfg.BackoffMax, cfg.IntervalMax)
	case cfg.MaxPending < 0:
		return fmt.Errorf("poller: Config.MaxPending: %d is negative", cfg.MaxPending)
	case cfg.AcceptTimeout < 0:
		return fmt.Errorf("poller: Config.AcceptTimeout: %v is negative", cfg.AcceptTimeout)
	case cfg.ShutdownTimeout < 0:
		return fmt.Errorf("poller: Config.ShutdownTimeout: %v is negative", cfg.ShutdownTimeout)
	}
	return nil
}
