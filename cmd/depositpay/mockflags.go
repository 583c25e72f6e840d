package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
			Usage: "application API `TOKEN`, beginning with test_; repeat the flag for more applications",
		},
		&cli.StringFlag{Name: "webhook-url", Usage: "send the webhooks of the first application to this `URL`"},
		&cli.StringSliceFlag{
			Name: "app",
			Usage: "an application with settings of its own, as `FIELDS` separated by semicolons: " +
				`"token=test_shop;name=Shop;webhook_url=http://127.0.0.1:9000/hook;game_field=gem_product;dialect=rest"; ` +
				"token is required; repeat the flag for more",
		},
		&cli.DurationFlag{Name: "lifetime", Usage: "an unpaid payment expires after this `TIME`, such as 30m; 0 means never"},
		&cli.BoolFlag{Name: "late-deposit", Usage: "accept deposits for expired payments"},
		&cli.BoolFlag{Name: "confirm-keeps-state", Usage: "a confirm returns COMPLETE but leaves the payment in PROGRESS, so that a poll returns it as well"},
		&cli.StringSliceFlag{
			Name:  "status-name",
			Usage: "the name of a status in records, as `STATUS=NAME`, such as CREATED=READY; for CREATED, WAITING and EXPIRED; repeat the flag for more",
		},
		&cli.StringFlag{
			Name: "faults",
			Usage: "start with the faults in this `FILE`, in the format of GET /_mock/faults: " +
				`{"rules":[{"operation":"next","kind":"drop-after","nth":2}],"chance":{"rate":0.1,"seed":7}}`,
		},
		&cli.StringFlag{
			Name: "clock", Value: "real",
			Usage: "real, stopped (at 2025-01-01, until moved) or a `FACTOR`: 3600 runs an hour in a second",
		},
		&cli.BoolFlag{Name: "allow-remote", Usage: "allow addresses that are not loopback (anyone who reaches the mock can complete payments)"},
	}
}

// applications returns one application per --token, then those of --app. The default token
// is used only without --app. --webhook-url belongs to the first application.
func applications(c *cli.Command) ([]mockserver.Application, error) {
	var list []mockserver.Application
	described := c.StringSlice("app")
	if c.IsSet("token") || len(described) == 0 {
		for _, token := range c.StringSlice("token") {
			if token == "" {
				return nil, usageError{errors.New("--token: is empty; give a token, or leave the flag out for " + mockserver.DefaultToken)}
			}
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

// parseApplication reads the fields of one --app, named as in the control API. Its errors
// quote no value, which may be a token.
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
			return app, fmt.Errorf("--app: a field is empty; write name=value, separated by semicolons")
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

// statusNames reads the values of --status-name.
func statusNames(given []string) (map[mockserver.Status]string, error) {
	names := map[mockserver.Status]string{}
	for _, text := range given {
		status, name, found := strings.Cut(text, "=")
		if _, twice := names[mockserver.Status(status)]; twice || !found {
			return nil, usageError{fmt.Errorf("--status-name: %.80q must be STATUS=NAME, as in CREATED=READY, and each status at most once", text)}
		}
		names[mockserver.Status(status)] = name
	}
	return names, nil
}

// readFaults reads the file of --faults; without the flag there are no faults.
func readFaults(name string) (faults mockserver.Faults, err error) {
	if name == "" {
		return faults, nil
	}
	text, err := os.ReadFile(name) //nolint:gosec // anyone who starts the mock names the file
	if err == nil {
		err = json.Unmarshal(text, &faults)
	}
	if err != nil {
		return faults, usageError{fmt.Errorf("--faults: %.200s: %w", name, err)}
	}
	return faults, nil
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
