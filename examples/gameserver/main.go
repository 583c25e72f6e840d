// Command gameserver gives items that players bought to a game, each unit exactly once, with
// package grant. With --demo it brings the mock of the service, with its store, and a small
// game in the same process.
//
//	go run ./examples/gameserver --demo
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		log.Fatal("gameserver: ", err)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("gameserver", flag.ContinueOnError)
	demo := flags.Bool("demo", false, "play purchases from the store to the item, with the mock of the service")
	file := flags.String("config", "gameserver.json", "the settings; see README.md")
	flags.SetOutput(out)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if *demo {
		return playDemo(ctx, out)
	}
	cfg, err := readSettings(*file)
	if err != nil {
		return err
	}
	s, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	return s.serve(ctx, func() {
		_, _ = fmt.Fprintf(out, "send webhooks to %s\ntype help for the operator's commands\n", s.hookURL())
		go s.console(ctx, in, out)
	})
}

// console runs the operator's commands, one a line.
func (s *server) console(ctx context.Context, in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan() && ctx.Err() == nil; {
		if err := s.desk.Do(ctx, out, "the console", lines.Text()); err != nil {
			return
		}
	}
}
