package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"time"

	"github.com/depositpay/depositpay-go/payments"
)

const (
	serviceTimeout = 10 * time.Second // interface §6.5

	defaultBudget        = 8 * time.Second
	defaultMaxConcurrent = 256
	defaultConfirmRate   = 100

	defaultRefusedInterval = time.Second
	firstRetry             = 5 * time.Second // interface §6.4
)

// Config configures New. Client is required, and so is one of Ledger and Sink. New copies
// it. Printing a Config does not print the path secrets.
type Config struct {
	// Client verifies payments: a *payments.Client.
	Client Confirmer
	// Ledger takes the verified payments, and records unknown ids before they are confirmed:
	// what inbox.Inbox.Webhook returns.
	Ledger Ledger
	// Sink takes the verified payments if there is no Ledger. The rest of this documentation
	// says Sink for either.
	Sink Sink

	// Budget is how long a delivery may take until it is answered, starting with the header
	// of the request. It is below the service's timeout of 10 s (interface §6.5), with
	// room for the network. Default 8 s.
	Budget time.Duration
	// Strict rejects a body with any field other than payment_id (interface §6.1 shows
	// exactly one). Default: other fields are ignored, so that the service may add some.
	Strict bool

	// MaxConcurrent is how many payment ids may be in progress at a time; a delivery of another
	// id is answered 429. Deliveries of an id in progress wait for it and count once.
	// Default 256.
	MaxConcurrent int
	// ConfirmRate is how many confirms are made per second at most, over all ids. Beyond
	// it deliveries are answered 429. Repeats of handled payments do not count, nor do
	// payments that a Ledger expects. Default 100; negative or infinite: no limit.
	ConfirmRate float64
	// ConfirmBurst is how many confirms may be made at once after a quiet time. Default
	// two seconds of ConfirmRate, at least 1.
	ConfirmBurst int

	// RefusedInterval is how long an id that the service rejected, because it is unpaid or
	// unknown, is answered 429 without another confirm. It must be below the service's shortest
	// wait of 5 s (interface §6.4), so a forged webhook delays the real one by one retry at
	// most. Default 1 s; negative: confirm each time.
	RefusedInterval time.Duration

	// PathSecrets, if set, are the values that the last segment of the request's path may
	// have; any other path is answered like a page that does not exist. Two may be
	// valid at once, so that one can be replaced without a gap. At least 22 characters
	// each (128 bits in base64url) of A-Z a-z 0-9 - . _ ~. They are kept as hashes and
	// never printed; mind the access logs of proxies in front.
	PathSecrets []string
	// AllowedSources, if set, are the networks that webhooks may come from; others are
	// answered 403. An IPv4 address is tested as such, also if it arrives mapped into
	// IPv6, and zones are ignored.
	AllowedSources []netip.Prefix
	// TrustedProxies are the networks of your own proxies. If the peer is one of them,
	// the source is the right-most address in X-Forwarded-For that is none of them.
	// Default: none, and the header is ignored.
	TrustedProxies []netip.Prefix

	// OnDelivery, if set, is called once per request, after the answer has been written. It
	// runs in the request's goroutine, for many requests at once. Its panics are
	// contained.
	OnDelivery func(Event)
	// OnHandOverFailed, if set, is given every payment that was confirmed and that the Sink
	// then failed to accept. The service may not deliver it again, so store it elsewhere, unless
	// the Sink keeps it, as an inbox does. It may be called from many goroutines at once. Its
	// panics are contained. Logger logs each failure as well.
	OnHandOverFailed func(p payments.Payment, err error)
	// Logger gets one record per request: at debug level what strangers can cause at any
	// rate (2xx, 4xx, ids that were not confirmed), at warn level timeouts, at error level a
	// Sink that failed and a confirm with an unknown outcome, since the service may not deliver
	// again then. If a Ledger has recorded that id it is a warning: the Ledger confirms it
	// again. A rejected API token and a failing payments.Config.TokenSource are an error once
	// an hour. Bodies, path secrets and tokens are never logged. Default slog.Default(), so
	// that no loss goes unseen.
	Logger *slog.Logger
}

// withDefaults returns a copy with the defaults filled in.
func (cfg Config) withDefaults() Config {
	cfg.Budget = cmp.Or(cfg.Budget, defaultBudget)
	cfg.MaxConcurrent = cmp.Or(cfg.MaxConcurrent, defaultMaxConcurrent)
	cfg.ConfirmRate = cmp.Or(cfg.ConfirmRate, defaultConfirmRate)
	cfg.ConfirmBurst = cmp.Or(cfg.ConfirmBurst, int(min(max(1, math.Ceil(2*cfg.ConfirmRate)), math.MaxInt32)))
	cfg.RefusedInterval = cmp.Or(cfg.RefusedInterval, defaultRefusedInterval)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return cfg
}

// validate returns an error that names the wrong field, never a secret.
func (cfg *Config) validate() error {
	switch {
	case cfg.Client == nil:
		return errors.New("webhook: Config.Client: is required: pass a *payments.Client")
	case cfg.Ledger == nil && cfg.Sink == nil:
		return errors.New("webhook: Config.Ledger: it or Config.Sink is required: it takes the verified payments")
	case cfg.Ledger != nil && cfg.Sink != nil:
		return errors.New("webhook: Config.Sink: Config.Ledger is set as well: set one of them")
	case cfg.Budget <= 0 || cfg.Budget >= serviceTimeout:
		return fmt.Errorf("webhook: Config.Budget: %v is not above 0 and below %v, the service's timeout",
			cfg.Budget, serviceTimeout)
	case cfg.RefusedInterval >= firstRetry:
		return fmt.Errorf("webhook: Config.RefusedInterval: %v is not below %v, the service's first retry",
			cfg.RefusedInterval, firstRetry)
	case cfg.MaxConcurrent < 0:
		return fmt.Errorf("webhook: Config.MaxConcurrent: %d is negative", cfg.MaxConcurrent)
	case math.IsNaN(cfg.ConfirmRate):
		return errors.New("webhook: Config.ConfirmRate: is not a number")
	case cfg.ConfirmBurst < 0:
		return fmt.Errorf("webhook: Config.ConfirmBurst: %d is negative", cfg.ConfirmBurst)
	}
	if err := validateSecrets(cfg.PathSecrets); err != nil {
		return err
	}
	if err := validatePrefixes("AllowedSources", cfg.AllowedSources); err != nil {
		return err
	}
	return validatePrefixes("TrustedProxies", cfg.TrustedProxies)
}

// plain is Config without methods, so that fmt prints its fields.
type plain Config

func (cfg Config) redacted() plain {
	masked := make([]string, len(cfg.PathSecrets))
	for i := range masked {
		masked[i] = "[redacted]"
	}
	cfg.PathSecrets = masked
	return plain(cfg)
}

// Format prints the Config without its path secrets, for every verb.
func (cfg Config) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), cfg.redacted())
}

// LogValue is the Config without its path secrets, for log/slog.
func (cfg Config) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("%+v", cfg.redacted()))
}
