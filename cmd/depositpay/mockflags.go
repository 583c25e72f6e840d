package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/depositpay/depositpay-go/mockserver"
)

func mockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "listen on `HOST:PORT`; port 0 lets the system choose"},
		&cli.StringSliceFlag{
			Name: "token", Value: []string{mockserver.DefaultToken},
			Usage: "application API `TOKEN`, beginning with test_; repeat it for more applications",
		},
		&cli.StringFlag{Name: "webhook-url", Usage: "send the webhooks of the first application to this `URL`"},
		&cli.StringSliceFlag{
			Name: "app",
			Usage: "an application with settings of its own, as `FIELDS` parted by semicolons: " +
				`"token=test_shop;name=Shop;webhook_url=http://127.0.0.1:9000/hook;game_field=gem_product;dialect=rest"; ` +
				"token is required; repeat the flag for more",
		},
		&cli.DurationFlag{Name: "lifetime", Usage: "an unpaid payment expires after this `TIME`, such as 30m; 0 is never"},
		&cli.BoolFlag{Name: "late-deposit", Usage: "a deposit for an expired payment counts like any other"},
		&cli.StringFlag{
			Name: "clock", Value: "real",
			Usage: "real, stopped (at 2025-01-01, until it is moved) or a `FACTOR`: 3600 runs an hour in a second",
		},
		&cli.BoolFlag{Name: "allow-remote", Usage: "allow addresses that are not loopback (anyone who reaches the mock can complete payments)"},
	}
}

// applications are one for each token, then those with settings of their own. The
// default token makes way for --app. --webhook-url belongs to the first of all.
func applications(c *cli.Command) ([]mockserver.Application, error) {
	var list []mockserver.Application
	described := c.StringSlice("app")
	if c.IsSet("token") || len(described) == 0 {
		for _, token := range c.StringSlice("token") {
			list = append(list, mockserver.Application{Token: token})
		}
	}
	for _, text := range described {
		app, err := parseApplication(text)
		if err != nil {
			return nil, usageError{err}
		}
		list = append(list, app)
	}
	if address := c.String("webhook-url"); address != "" {
		if list[0].WebhookURL != "" {
			return nil, usageError{fmt.Errorf("the first application has two webhook URIs; leave out --webhook-url or the webhook_url of --app")}
		}
		list[0].WebhookURL = address
	}
	return list, nil
}

// parseApplication reads the fields of one --app. They are called as on the control
// API. Its errors repeat no value: one may be a token.
func parseApplication(text string) (mockserver.Application, error) {
	var app mockserver.Application
	given := map[string]bool{}
	for _, field := range strings.Split(text, ";") {
		name, value, _ := strings.Cut(field, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if given[name] {
			return app, fmt.Errorf("--app: %s is given twice; give it once", name)
		}
		switch name {
		case "token":
			app.Token = value
		case "name":
			app.Name = value
		case "webhook_url":
			app.WebhookURL = value
		case "game_field":
			app.GameField = value
		case "dialect":
			if err := app.Dialect.UnmarshalText([]byte(value)); err != nil {
				return app, fmt.Errorf("--app: dialect: %w", err)
			}
		case "":
			return app, fmt.Errorf("--app: a field is empty; write name=value, parted by semicolons")
		default:
			return app, fmt.Errorf("--app: a field must be token, name, webhook_url, game_field or dialect, as in \"token=test_shop;name=Shop\"")
		}
		given[name] = true
	}
	if app.Token == "" {
		return app, fmt.Errorf("--app: token is required, as in \"token=test_shop;name=Shop\"")
	}
	return app, nil
}

func parseClock(text string) (mockserver.Clock, error) {
	switch text {
	case "real":
		return mockserver.Clock{}, nil
	case "stopped":
		return mockserver.NewStoppedClock(time.Time{}), nil
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return mockserver.Clock{}, usageError{fmt.Errorf("--clock: %.40q is neither real nor stopped nor a factor such as 3600", text)}
	}
	return mockserver.NewAcceleratedClock(time.Time{}, factor), nil
}
