package main

import (
	"errors"
	"flag"
	"io"
	"time"
)

// settings configure the shop. The secrets come from the environment, which a list of processes does
// not show.
type settings struct {
	Addr          string        // where to serve the pages
	File          string        // the SQLite database
	Postgres      string        // the PostgreSQL database, in place of the file
	OrderLifetime time.Duration // an unpaid order expires after it
	Demo          bool

	BaseURL, CheckoutURL string // of the service
	Token                string // the application API token
	OfficePassword       string
	HookSecret           string // the last segment of the webhook's path

	now        func() time.Time
	pollPause  time.Duration // default: that of package poller
	watchEvery time.Duration // how often an open order page checks for changes
}

func readSettings(args []string, env func(string) string, out io.Writer) (settings, error) {
	s := settings{
		BaseURL: env("DEPOSITPAY_URL"), CheckoutURL: env("DEPOSITPAY_CHECKOUT_URL"), Token: env("DEPOSITPAY_TOKEN"),
		OfficePassword: env("SHOP_OFFICE_PASSWORD"), HookSecret: env("SHOP_HOOK_SECRET"),
		now: time.Now, watchEvery: 2 * time.Second,
	}
	flags := flag.NewFlagSet("webshop", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.Addr, "addr", "127.0.0.1:8090", "where to serve the pages")
	flags.StringVar(&s.File, "db", "webshop.db", "the SQLite database")
	flags.StringVar(&s.Postgres, "postgres", "", "the URL of a PostgreSQL database, for any number of replicas")
	flags.DurationVar(&s.OrderLifetime, "order-lifetime", 24*time.Hour, "an unpaid order expires after it")
	flags.BoolVar(&s.Demo, "demo", false, "run the mock of the service too, with a temporary database")
	return s, flags.Parse(args)
}

var errPassword = errors.New("webshop: set SHOP_OFFICE_PASSWORD to at least 12 characters; there is no default")

func (s settings) check() error {
	if len(s.OfficePassword) < 12 {
		return errPassword
	}
	if s.CheckoutURL == "" {
		return errors.New("webshop: set DEPOSITPAY_CHECKOUT_URL to the address of the service's checkout pages")
	}
	return nil
}
