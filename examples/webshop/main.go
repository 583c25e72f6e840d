// Command webshop sells a few things for bank transfers. It is made to be copied: orders, stock and
// the inbox share a database, so an order is paid once and the stock goes down once, whatever crashes.
//
//	go run ./examples/webshop --demo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	cfg, err := readSettings(args, env, out)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("webshop: --addr: %w", err)
	}
	defer func() { _ = ln.Close() }()
	if cfg.Demo {
		return demo(ctx, cfg, ln, out)
	}
	return serve(ctx, cfg, ln, out)
}

// serve runs the shop until ctx ends.
func serve(ctx context.Context, cfg settings, ln net.Listener, out io.Writer) error {
	s, err := openShop(ctx, cfg)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "shop          http://%s/\nback office   http://%s/office\n", ln.Addr(), ln.Addr())
	return errors.Join(s.run(ctx, ln), s.close())
}
