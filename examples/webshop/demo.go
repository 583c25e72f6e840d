package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// demo runs the shop and the mock of the service together, with a new password.
func demo(ctx context.Context, cfg settings, ln net.Listener, out io.Writer) error {
	dir, err := os.MkdirTemp("", "webshop")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cfg.Postgres, cfg.File = "", filepath.Join(dir, "webshop.db")
	cfg.OfficePassword, cfg.HookSecret = rand.Text(), rand.Text()
	cfg.pollPause = time.Second
	mock, err := mockserver.New(mockserver.Config{
		Lifetime: cfg.OrderLifetime, LateDeposit: true,
		Applications: []mockserver.Application{{
			Name: "Webshop", WebhookURL: "http://" + ln.Addr().String() + hookPath + cfg.HookSecret,
		}},
	})
	if err != nil {
		return err
	}
	if err := mock.Start(); err != nil {
		return err
	}
	defer func() { _ = mock.Close() }()
	cfg.BaseURL, cfg.CheckoutURL, cfg.Token = mock.URL(), mock.CheckoutURL(), mock.Token()
	_, _ = fmt.Fprintf(out, "bank phone    %s/_mock/ui/phone   (send the customer's bank transfers here)\n", mock.URL())
	_, _ = fmt.Fprintf(out, "password      %s   (of the back office, for this run)\n", cfg.OfficePassword)
	return serve(ctx, cfg, ln, out)
}
