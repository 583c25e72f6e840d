package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"
)

// The exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a mistake in the command line.
type usageError struct{ error }

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := app(stdout, stderr).Run(ctx, args)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "depositpay:", err)
	var usage usageError
	if errors.As(err, &usage) {
		_, _ = fmt.Fprintln(stderr, `Run "depositpay help" for the commands, and "depositpay help mock" for the flags of one.`)
		return exitUsage
	}
	return exitFailed
}

func app(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:                  "depositpay",
		Usage:                 "tools for the bank-deposit payment service",
		Writer:                stdout,
		ErrWriter:             stderr,
		EnableShellCompletion: true,
		Commands:              []*cli.Command{mockCommand()},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return usageError{fmt.Errorf("there is no command %q", c.Args().First())}
			}
			return cli.ShowAppHelp(c)
		},
		// run prints the error and chooses the exit code; the library would end
		// the process itself.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	for _, c := range append([]*cli.Command{root}, root.Commands...) {
		c.OnUsageError = func(_ context.Context, _ *cli.Command, err error, _ bool) error {
			return usageError{err}
		}
	}
	return root
}

// noArguments rejects arguments after the flags of a command.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return usageError{fmt.Errorf("%s takes flags only, not %q", c.Name, c.Args().First())}
	}
	return nil
}
