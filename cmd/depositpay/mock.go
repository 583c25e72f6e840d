package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/depositpay/depositpay-go/mockserver"
)

func mockCommand() *cli.Command {
	return &cli.Command{
		Name:  "mock",
		Usage: "run the mock payment service until SIGINT or SIGTERM",
		Description: "Everything is kept in memory and is lost when the mock stops.\n" +
			"Play the customer and the bank on the dashboard, or pay a payment with\n" +
			"   curl -X POST <base URL>/_mock/payments/<payToken>/deposit -d '{\"payer\":\"Kim\",\"amount\":10000}'",
		Flags: mockFlags(),
		// A dialect has commas in it.
		DisableSliceFlagSeparator: true,
		Action: func(ctx context.Context, c *cli.Command) error {
			cfg, err := mockConfig(c)
			if err != nil {
				return err
			}
			faults, err := readFaults(c.String("faults"))
			if err != nil {
				return err
			}
			if cfg.AllowRemote {
				if _, err := io.WriteString(c.Root().ErrWriter, remoteBanner); err != nil {
					return fmt.Errorf("printing the warning: %w", err)
				}
			}
			return runMock(ctx, cfg, faults, c.Root().Writer)
		},
	}
}

const remoteBanner = `
*****************************************************************
*  --allow-remote: THIS MOCK MAY BE OPEN TO THE NETWORK.        *
*  Anyone who reaches it can complete payments, read everything *
*  and make it send webhooks anywhere. It has no password.      *
*  Never use it with real money or with tokens of a live        *
*  service.                                                     *
*****************************************************************

`

func mockConfig(c *cli.Command) (mockserver.Config, error) {
	var cfg mockserver.Config
	if err := noArguments(c); err != nil {
		return cfg, err
	}
	apps, err := applications(c)
	if err != nil {
		return cfg, err
	}
	clock, err := parseClock(c.String("clock"))
	if err != nil {
		return cfg, err
	}
	names, err := statusNames(c.StringSlice("status-name"))
	if err != nil {
		return cfg, err
	}
	return mockserver.Config{
		Addr:              c.String("addr"),
		Applications:      apps,
		Clock:             clock,
		Lifetime:          c.Duration("lifetime"),
		LateDeposit:       c.Bool("late-deposit"),
		ConfirmKeepsState: c.Bool("confirm-keeps-state"),
		StatusNames:       names,
		AllowRemote:       c.Bool("allow-remote"),
		Logger:            slog.New(slog.NewTextHandler(c.Root().ErrWriter, nil)),
	}, nil
}

// flagOf replaces the names of settings in an error by the flags that set them.
var flagOf = strings.NewReplacer(
	"mockserver: ", "", "Config.AllowRemote", "--allow-remote", "AllowRemote", "--allow-remote",
	"Config.Addr", "--addr", "Config.Lifetime", "--lifetime", "Config.Clock", "--clock", "Config.StatusNames", "--status-name",
)

// runMock serves until ctx ends. It prints the addresses once it accepts connections.
func runMock(ctx context.Context, cfg mockserver.Config, faults mockserver.Faults, stdout io.Writer) error {
	s, err := mockserver.New(cfg)
	if err != nil {
		return usageError{errors.New(flagOf.Replace(err.Error()))}
	}
	defer func() { _ = s.Close() }()
	if err := s.SetFaults(faults); err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	if _, err = io.WriteString(stdout, ready(s, cfg.Addr)); err != nil {
		return fmt.Errorf("printing the addresses: %w", err)
	}
	<-ctx.Done()
	return nil
}

// ready returns the addresses and tokens. The tokens are printed on purpose: the person who
// started the mock must pass them to the program under test.
func ready(s *mockserver.Server, addr string) string {
	base := s.URL()
	text := fmt.Sprintf("The mock payment service is ready. Stop it with Ctrl-C.\n"+
		"  base URL       %s\n  dashboard      %s/_mock/\n  store          %s/store/\n"+
		"  checkout base  %s\n  control API    %s/_mock\n", base, base, base, s.CheckoutURL(), base)
	if host, _, _ := net.SplitHostPort(addr); host == "" || net.ParseIP(host).IsUnspecified() {
		text += "  elsewhere      replace 127.0.0.1 by the name of this machine\n"
	}
	for _, app := range s.Applications() {
		text += fmt.Sprintf("  token          %s  (%s)\n", app.Token, app.Name)
	}
	return text
}
