// Command depositpay is the tool of this project for people. "depositpay mock"
// runs the mock payment service; "depositpay help" lists the commands.
//
// It exits with 0 after success or a clean stop by SIGINT or SIGTERM, with 1 when
// a command failed and with 2 when it was called wrongly.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once the first signal has begun the stop, a second one ends the program.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}
