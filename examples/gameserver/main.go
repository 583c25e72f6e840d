// Command gameserver turns payments into items in a game, each unit once, with package
// grant. With --demo it brings everything along: the mock of the service with its store, and
// a tiny text-mode game that several players join and leave.
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
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gameserver:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("gameserver", flag.ContinueOnError)
	demo := flags.Bool("demo", false, "play a purchase from the store to the item, with the mock of the service")
	stay := flags.Bool("stay", false, "with --demo: keep running, for players and the store in a browser")
	file := flags.String("config", "gameserver.json", "the settings; see README.md")
	flags.SetOutput(out)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not understood; see -h", flags.Arg(0))
	}
	if *demo {
		return playDemo(ctx, *stay, in, out)
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
		_, _ = fmt.Fprintf(out, "%s\ntype help for the operator's commands\n", s.addresses())
		go console(ctx, s, in, out)
	})
}

// console reads the operator's commands, one a line.
func console(ctx context.Context, s *server, in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan() && ctx.Err() == nil; {
		if err := s.desk.Do(ctx, out, "the console", lines.Text()); err != nil {
			return
		}
	}
}
