package mockserver

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// DefaultToken is the application API token of a server whose Config names none.
const DefaultToken = "test_demo"

const (
	defaultAddr          = "127.0.0.1:0"
	defaultPatience      = 2 * time.Second
	defaultMaxPayments   = 1_000_000
	defaultMaxDeliveries = 100_000
	defaultMaxRequests   = 1000
)

// Config configures a [Server]. The zero Config is ready for use. [New] copies
// it, so a later change has no effect.
type Config struct {
	// Tokens are the application API tokens (interface §5), one per
	// application; each application sees only its own payments. Every token
	// begins with "test_" and is made of letters, digits and "-._~", because
	// clients in the field put it into the query string unescaped.
	// Default: [DefaultToken] alone.
	Tokens []string

	// Addr is where [Server.Start] listens. Default: "127.0.0.1:0", a port that
	// the system chooses. Only loopback addresses are taken, unless AllowRemote
	// is set.
	Addr string

	// AllowRemote lets the server listen on, and send webhooks to, addresses
	// that are not loopback. Anyone who reaches the control API can complete
	// payments; the server says so loudly in the log.
	AllowRemote bool

	// WebhookURL is the webhook URI of the first application. Default: none,
	// nothing is sent. See [Server.SetWebhook] for the rules.
	WebhookURL string

	// WebhookTransport sends the webhooks. Default: plain HTTP with one
	// connection per attempt, no proxy, no compression. Redirects are never
	// followed, whatever the transport. It honours the context of the request, as
	// every http.RoundTripper should: that is how a time-out and Close end it.
	WebhookTransport http.RoundTripper

	// Clock is the time of the timestamps and of the webhook schedule.
	// Default: the real time. See [NewStoppedClock].
	Clock Clock

	// Patience is how long, in real time, [Server.Advance] gives a webhook
	// receiver to answer before it takes the receiver for hanging and lets the
	// mock's clock run on, up to the time-out of the attempt (10 s, interface
	// §6.5). Default: 2 s. A test with a receiver that hangs on purpose sets it
	// to a few milliseconds.
	Patience time.Duration

	// MaxPayments is how many payments are kept. At the cap the creation of a
	// payment is refused with [CodeStorageFull]: no payment is ever dropped. So
	// it is when the kept payments hold 256 MiB of texts. Default: 1,000,000.
	MaxPayments int

	// MaxDeliveries is how many webhook deliveries are kept, each with its last
	// 100 attempts. At the cap the oldest delivery that is not pending is
	// forgotten; when all are pending, a deposit is refused with
	// [CodeStorageFull]. Default: 100,000.
	MaxDeliveries int

	// MaxRequests is how many requests [Server.Requests] remembers, each with
	// the first 4 KiB of its body and of the answer; older ones are forgotten.
	// Accepted bank notifications are kept to the same number. Default: 1000.
	MaxRequests int

	// Logger gets the warnings of the server. Default: slog.Default().
	Logger *slog.Logger
}

// withDefaults returns a copy with every default filled in.
func (c Config) withDefaults() Config {
	c.Tokens = slices.Clone(c.Tokens)
	if len(c.Tokens) == 0 {
		c.Tokens = []string{DefaultToken}
	}
	setDefault(&c.Addr, defaultAddr)
	setDefault(&c.Patience, defaultPatience)
	setDefault(&c.MaxPayments, defaultMaxPayments)
	setDefault(&c.MaxDeliveries, defaultMaxDeliveries)
	setDefault(&c.MaxRequests, defaultMaxRequests)
	setDefault(&c.Logger, slog.Default())
	if c.WebhookTransport == nil {
		c.WebhookTransport = newWebhookTransport()
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate names the field that is wrong. It never prints a token: the one that
// is refused may be a live one.
func (c Config) validate() error {
	for i, token := range c.Tokens {
		if err := checkToken(token); err != nil {
			return fmt.Errorf("mockserver: Config.Tokens[%d]: %w", i, err)
		}
		if slices.Contains(c.Tokens[:i], token) {
			return fmt.Errorf("mockserver: Config.Tokens[%d]: the same token is given twice", i)
		}
	}
	if err := checkListenAddr(c.Addr, c.AllowRemote); err != nil {
		return fmt.Errorf("mockserver: Config.Addr: %w", err)
	}
	if c.WebhookURL != "" {
		if err := checkWebhookURL(c.WebhookURL, c.AllowRemote); err != nil {
			return fmt.Errorf("mockserver: Config.WebhookURL: %w", err)
		}
	}
	if c.Patience < 0 {
		return fmt.Errorf("mockserver: Config.Patience: %v is negative", c.Patience)
	}
	for name, value := range map[string]int{
		"MaxPayments": c.MaxPayments, "MaxDeliveries": c.MaxDeliveries, "MaxRequests": c.MaxRequests,
	} {
		if value < 0 {
			return fmt.Errorf("mockserver: Config.%s: %d is negative", name, value)
		}
	}
	return nil
}
