package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/depositpay/depositpay-go/mockserver"
)

func mockCommand() *cli.Command {
	return &cli.Command{
		Name:  "mock",
		Usage: "run the mock payment service until SIGINT or SIGTERM",
		Description: "Everything is kept in memory. Play the payer with\n" +
			"   curl -X POST <base URL>/_mock/payments/<payToken>/deposit -d '{\"payer\":\"Kim\",\"amount\":10000}'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "listen on `HOST:PORT`; port 0 lets the system choose"},
			&cli.StringSliceFlag{
				Name: "token", Value: []string{mockserver.DefaultToken},
				Usage: "application API `TOKEN`, beginning with test_; repeat it for more applications",
			},
			&cli.StringFlag{Name: "webhook-url", Usage: "send the webhooks of the first application to this `URL`"},
			&cli.BoolFlag{Name: "allow-remote", Usage: "allow addresses that are not loopback (anyone who reaches the mock can complete payments)"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return runMock(ctx, mockserver.Config{
				Addr:         c.String("addr"),
				Applications: applications(c.StringSlice("token"), c.String("webhook-url")),
				AllowRemote:  c.Bool("allow-remote"),
				Logger:       slog.New(slog.NewTextHandler(c.Root().ErrWriter, nil)),
			}, c.Root().Writer)
		},
	}
}

// applications is one application for each token; the first has the webhook URI.
func applications(tokens []string, webhookURL string) []mockserver.Application {
	list := make([]mockserver.Application, len(tokens))
	for i, token := range tokens {
		list[i].Token = token
	}
	if len(list) > 0 {
		list[0].WebhookURL = webhookURL
	}
	return list
}

// runMock serves until ctx ends. What it prints says that connections are taken.
func runMock(ctx context.Context, cfg mockserver.Config, stdout io.Writer) error {
	s, err := mockserver.New(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(); err != nil {
		return err
	}
	var tokens []string
	for _, app := range s.Applications() {
		tokens = append(tokens, app.Token)
	}
	_, err = fmt.Fprintf(stdout, "The mock payment service is ready. Stop it with Ctrl-C.\n"+
		"  base URL       %s\n  checkout base  %s\n  control API    %s/_mock\n  token          %s\n",
		s.URL(), s.CheckoutURL(), s.URL(), strings.Join(tokens, ", "))
	if err != nil {
		return fmt.Errorf("printing the address: %w", err)
	}
	<-ctx.Done()
	return nil
}
