// Command depositpay is this project's command-line tool. "depositpay mock" runs the mock
// payment service; "depositpay help" lists the commands.
//
// The exit code is 0 after success or a clean stop by SIGINT or SIGTERM, 1 if a command
// failed and 2 for a usage error.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one kills the program.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}
