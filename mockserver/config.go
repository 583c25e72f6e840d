package mockserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
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
	// Applications are the clients of the service (interface §5.1); each sees
	// only its own payments. [Server.SaveApplication] adds more later.
	// Default: one with the defaults of [Application], the token [DefaultToken].
	Applications []Application

	// Addr is where [Server.Start] listens. Default: "127.0.0.1:0", a port that
	// the system chooses. Only loopback addresses are taken, unless AllowRemote
	// is set.
	Addr string

	// AllowRemote lets the server listen on, and send webhooks to, addresses
	// that are not loopback. Anyone who reaches the control API can complete
	// payments; the server logs a loud warning.
	AllowRemote bool

	// WebhookTransport sends the webhooks. Default: plain HTTP with one
	// connection per attempt, no proxy, no compression. Redirects are never
	// followed, whatever the transport. It must honor the context of the request, as
	// every http.RoundTripper should: a timeout and Close end it that way.
	WebhookTransport http.RoundTripper

	// Clock is the time of the timestamps and of the webhook schedule.
	// Default: the real time. See [NewStoppedClock] and [NewAcceleratedClock].
	Clock Clock

	// Patience is how long, in real time, [Server.Advance] gives a webhook
	// receiver to answer before it counts the receiver as hanging and lets the
	// mock's clock run on, up to the timeout of the attempt (10 s, interface
	// §6.5). Default: 2 s. A test with a receiver that hangs on purpose sets it
	// to a few milliseconds.
	Patience time.Duration

	// Account is where customers pay to, the same for all payments. Each empty
	// field has a default that looks made up.
	Account Account

	// Lifetime is how long a payment waits for its deposit, by the server's
	// clock; then it is [StatusExpired]. Default: 0, forever. The interface names
	// neither a lifetime nor a status for its end (§3, §8), and a test that moves
	// the clock through the 75 hours of a webhook schedule should find its other
	// payments as they were.
	Lifetime time.Duration

	// LateDeposit makes the deposit for an expired payment count like any other.
	// Default: it is refused with [CodePaymentExpired].
	LateDeposit bool

	// StatusNames renames the stages that the interface leaves open (§3), where
	// records show them: [StatusCreated], [StatusWaiting] and [StatusExpired].
	// A name is made of up to 64 upper-case letters, digits and "_". PROGRESS and
	// COMPLETE are fixed. Default: the values of the constants.
	StatusNames map[Status]string

	// ConfirmKeepsState makes POST /payments/confirm answer COMPLETE and leave
	// the payment in PROGRESS, which the interface leaves open (§3): a poll may
	// then return the payment as well, and its webhooks go on.
	// Default: the confirmation completes the payment.
	ConfirmKeepsState bool

	// MaxPayments is how many payments are kept. At the cap the creation of a
	// payment is refused with [CodeStorageFull]: no payment is ever dropped. The same
	// happens when the payments hold 256 MiB of texts. Default: 1,000,000.
	MaxPayments int

	// MaxDeliveries is how many webhook deliveries are kept, each with its last
	// 100 attempts, and 10,000 responses of receivers in all. At the cap the oldest
	// delivery that is not pending is forgotten; when all are pending, a deposit is
	// refused with [CodeStorageFull]. Default: 100,000.
	MaxDeliveries int

	// MaxRequests is how many requests [Server.Requests] remembers, each with
	// the first 4 KiB of its body and of the answer; older ones are forgotten.
	// Accepted bank notifications are kept to the same number. Default: 1000.
	MaxRequests int

	// Logger gets the warnings of the server. Default: slog.Default().
	Logger *slog.Logger
}

// Account is the bank account that customers pay into.
type Account struct {
	// Bank is the display name of the bank. Default: "Mock Bank", which a Korean page
	// calls "모의 은행".
	Bank string
	// Number is the account number as people write it. Default: "000-1234-5678".
	Number string
	// Holder is who the account belongs to. Default: "Mock Service", which a Korean page
	// calls "모의 서비스".
	Holder string
}

var defaultAccount = Account{Bank: "Mock Bank", Number: "000-1234-5678", Holder: "Mock Service"}

func (a Account) check() error {
	for field, text := range map[string]string{"Bank": a.Bank, "Number": a.Number, "Holder": a.Holder} {
		if _, err := checkName(text, maxNameLength); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return nil
}

// withDefaults returns a copy with every default filled in.
func (c Config) withDefaults() Config {
	c.Applications = slices.Clone(c.Applications)
	if len(c.Applications) == 0 {
		c.Applications = make([]Application, 1)
	}
	for i := range c.Applications {
		c.Applications[i].Token = cmp.Or(c.Applications[i].Token, DefaultToken)
	}
	c.StatusNames = maps.Clone(c.StatusNames)
	c.Account.Bank = cmp.Or(c.Account.Bank, defaultAccount.Bank)
	c.Account.Number = cmp.Or(c.Account.Number, defaultAccount.Number)
	c.Account.Holder = cmp.Or(c.Account.Holder, defaultAccount.Holder)
	c.Addr = cmp.Or(c.Addr, defaultAddr)
	c.Patience = cmp.Or(c.Patience, defaultPatience)
	c.MaxPayments = cmp.Or(c.MaxPayments, defaultMaxPayments)
	c.MaxDeliveries = cmp.Or(c.MaxDeliveries, defaultMaxDeliveries)
	c.MaxRequests = cmp.Or(c.MaxRequests, defaultMaxRequests)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// validate names the field that is wrong. The applications are checked when New
// saves them.
func (c Config) validate() error {
	if err := checkListenAddr(c.Addr, c.AllowRemote); err != nil {
		return fmt.Errorf("mockserver: Config.Addr: %w", err)
	}
	if err := c.Account.check(); err != nil {
		return fmt.Errorf("mockserver: Config.Account.%w", err)
	}
	if c.Lifetime < 0 {
		return fmt.Errorf("mockserver: Config.Lifetime: %v is negative; 0 means forever", c.Lifetime)
	}
	if err := checkStatusNames(c.StatusNames); err != nil {
		return fmt.Errorf("mockserver: Config.StatusNames: %w", err)
	}
	if err := c.Clock.check(); err != nil {
		return fmt.Errorf("mockserver: Config.Clock: %w", err)
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

func checkStatusNames(names map[Status]string) error {
	for status, name := range names {
		switch status {
		case StatusCreated, StatusWaiting, StatusExpired:
		default:
			return fmt.Errorf("%.40q cannot be renamed; only CREATED, WAITING and EXPIRED can", status)
		}
		if !validCodeWord(name) || name == string(StatusProgress) || name == string(StatusComplete) {
			return fmt.Errorf("%s: must be up to 64 upper-case letters, digits or \"_\", and neither PROGRESS nor COMPLETE", status)
		}
	}
	return nil
}

// statusName is how a status reads in a record.
func (c *Config) statusName(status Status) string {
	if name, ok := c.StatusNames[status]; ok {
		return name
	}
	return string(status)
}
