package grant

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// report is for a support request. It names no player and holds no record; Do takes the
// secrets out of it.
func (d *Desk) report(ctx context.Context, out io.Writer, _ string, _ []string) error {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	say("report of %s", time.Now().UTC().Format(time.RFC3339))
	say("%s %s/%s %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, version())

	status, err := d.Box.Status(ctx)
	if err != nil {
		return err
	}
	for stage := inbox.StageExpected; stage <= inbox.StageDead; stage++ {
		if n := status.Count[stage]; n == inbox.CountLimit {
			say("payments %s: %d or more", stage, n)
		} else if n > 0 {
			say("payments %s: %d", stage, n)
		}
	}
	counts, err := d.Book.Counts(ctx)
	if err != nil {
		return err
	}
	for _, s := range []State{Pending, Granting, Claimable, Review, Granted} {
		say("units %s: %d", s, counts[s])
	}
	if err := d.reviews(ctx, say); err != nil {
		return err
	}
	if err := d.undecidedLines(ctx, say); err != nil {
		return err
	}
	foreign, err := d.Watch.Check(ctx, d.Box)
	if err != nil {
		return err
	}
	say("payments completed by another poller: %d", foreign)
	p := d.Poller.Stats()
	say("polls: %d, empty %d, received %d, answers lost %d, errors %d, last %s",
		p.Polls, p.Empty, p.Received, p.Ambiguous, p.Errors, p.LastPoll.UTC().Format(time.RFC3339))
	d.losses(ctx, say)
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) reviews(ctx context.Context, say func(string, ...any)) error {
	waiting, err := d.Book.Waiting(ctx, 0)
	if err != nil {
		return err
	}
	waiting = slices.DeleteFunc(waiting, func(g Grant) bool { return g.State != Review })
	for _, g := range waiting[:min(len(waiting), 50)] {
		say("needs review: %s, %s: %s", g.Key, g.Item, without(g.Account, oneLine(g.Reason)))
	}
	return nil
}

// without takes a player out of a text.
func without(player, text string) string {
	if player == "" {
		return text
	}
	return strings.ReplaceAll(text, player, "[player]")
}

func (d *Desk) losses(ctx context.Context, say func(string, ...any)) {
	last, err := d.Box.LastReport(ctx)
	if err != nil {
		say("reconciliation: %v", err)
		return
	}
	say("last reconciliation %s: asked %d, recovered %d, not paid %d, failed %d", last.At.Format(time.RFC3339), last.Asked, last.Recovered, last.StillUnpaid, last.Failed)
	for _, l := range last.PossibleLosses {
		say("possible loss at %s: %s", l.At.Format(time.RFC3339), l.Reason)
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "without build information"
	}
	return info.Main.Path + " " + info.Main.Version
}
