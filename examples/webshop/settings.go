package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"
)

// settings are all that a shop is told at its start. The secrets come from the
// environment, where the list of processes does not show them.
type settings struct {
	Addr          string        // where the pages are served
	File          string        // the SQLite database
	Postgres      string        // the PostgreSQL database, in place of the file
	HTTPS         bool          // the pages are reached by https, through a proxy
	OrderLifetime time.Duration // after which an unpaid order is shown as expired
	Demo          bool

	BaseURL, CheckoutURL string // of the service
	Token                string // the application API token
	OfficePassword       string
	HookSecret           string // the last segment of the webhook's path

	now        func() time.Time
	pollPause  time.Duration // default: that of package poller
	watchPause time.Duration // between two looks at an order for an open page
}

// The environment variables.
const (
	envURL      = "DEPOSITPAY_URL"
	envCheckout = "DEPOSITPAY_CHECKOUT_URL"
	envToken    = "DEPOSITPAY_TOKEN"
	envPassword = "SHOP_OFFICE_PASSWORD"
	envHook     = "SHOP_HOOK_SECRET"
)

func readSettings(args []string, env func(string) string, out io.Writer) (settings, error) {
	s := settings{
		BaseURL: env(envURL), CheckoutURL: env(envCheckout), Token: env(envToken),
		OfficePassword: env(envPassword), HookSecret: env(envHook),
		now: time.Now, watchPause: time.Second,
	}
	flags := flag.NewFlagSet("webshop", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.Addr, "addr", "127.0.0.1:8090", "where to serve the pages")
	flags.StringVar(&s.File, "db", "webshop.db", "the SQLite database")
	flags.StringVar(&s.Postgres, "postgres", "", "the URL of a PostgreSQL database, for any number of replicas")
	flags.BoolVar(&s.HTTPS, "https", false, "customers reach the shop by https, through a proxy")
	flags.DurationVar(&s.OrderLifetime, "order-lifetime", 24*time.Hour, "after which an unpaid order is shown as expired")
	flags.BoolVar(&s.Demo, "demo", false, "run the mock of the service as well, with a database that is gone afterwards")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("webshop: %q is not understood; see -h", flags.Arg(0))
	}
	if s.Demo && s.Postgres != "" {
		return s, errors.New("webshop: --demo has a database of its own, that is gone afterwards; leave --postgres out")
	}
	return s, nil
}

// minPassword is the least length of the back office's password.
const minPassword = 12

var errPassword = errors.New("webshop: set " + envPassword + " to a password of the back office, of at least 12 characters; there is no default")

func (s settings) check() error {
	if len(s.OfficePassword) < minPassword {
		return errPassword
	}
	if s.OrderLifetime <= 0 {
		return errors.New("webshop: --order-lifetime must be above 0")
	}
	if _, _, err := net.SplitHostPort(s.Addr); err != nil {
		return fmt.Errorf("webshop: --addr: %w", err)
	}
	if u, err := url.Parse(s.CheckoutURL); err != nil || u.Host == "" {
		return errors.New("webshop: set " + envCheckout + " to the address of the service's checkout pages")
	}
	return nil
}
