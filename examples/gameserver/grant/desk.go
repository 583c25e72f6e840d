package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/poller"
)

// Desk is the operator's console: each of its commands is one line of text. Give it to your
// panel, or to the console of your game, and to nobody else.
type Desk struct {
	Book   *Book
	Box    *inbox.Inbox
	Poller *poller.Poller
	Watch  *Watch
	// Secrets are removed from every answer: the API token, passwords.
	Secrets []string
}

type deskCommand struct {
	usage, help string
	run         func(d *Desk, ctx context.Context, out io.Writer, actor string, args []string) error
}

var deskCommands = map[string]deskCommand{
	"pending":  {"pending", "what players have paid for and do not have yet", (*Desk).pending},
	"history":  {"history ACCOUNT", "all units of a player", (*Desk).history},
	"resend":   {"resend KEY REASON…", "gives a unit again, unless it was granted", (*Desk).resend},
	"settle":   {"settle KEY REASON…", "marks a unit as granted that you have seen to by hand", (*Desk).settle},
	"payments": {"payments", "what was paid and waits for a decision, with the reason", (*Desk).payments},
	"approve":  {"approve PAYMENT_ID REASON…", "hands a payment in review over as it is", (*Desk).approve},
	"reject":   {"reject PAYMENT_ID REASON…", "gives nothing for a payment in review, or dead", (*Desk).reject},
	"retry":    {"retry PAYMENT_ID REASON…", "runs a dead payment again, once its cause is fixed", (*Desk).retry},
	"check":    {"check", "asks the service and looks through the claim box, now", (*Desk).check},
	"recover":  {"recover PAYMENT_ID", "fetches a payment that the service's dashboard shows and the ledger does not", (*Desk).recover},
	"report":   {"report", "how everything stands, with the secrets removed, for a support request", (*Desk).report},
}

var deskOrder = []string{"pending", "history", "resend", "settle", "payments", "approve", "reject", "retry", "check", "recover", "report"}

// Do runs a line for actor, and writes the answer to out. The error is out's alone; what is
// wrong with the line is part of the answer.
func (d *Desk) Do(ctx context.Context, out io.Writer, actor, line string) error {
	var answer strings.Builder
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "help" {
		for _, name := range deskOrder {
			_, _ = fmt.Fprintf(&answer, "%-26s %s\n", deskCommands[name].usage, deskCommands[name].help)
		}
	} else if c, known := deskCommands[words[0]]; !known {
		_, _ = fmt.Fprintf(&answer, "there is no command %q; try help\n", words[0])
	} else if err := c.run(d, ctx, &answer, actor, words[1:]); err != nil {
		_, _ = fmt.Fprintln(&answer, err)
	}
	_, err := io.WriteString(out, d.clean(answer.String()))
	return err
}

func (d *Desk) clean(text string) string {
	for _, secret := range d.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[removed]")
		}
	}
	return text
}

func (d *Desk) pending(ctx context.Context, out io.Writer, _ string, _ []string) error {
	waiting, err := d.Book.Waiting(ctx, 100)
	if err != nil {
		return err
	}
	undecided, err := d.undecided(ctx, "")
	if n := len(undecided); n > 0 {
		_, _ = fmt.Fprintf(out, "%d payments wait for a decision: see payments\n", n)
		if len(waiting) == 0 {
			return nil
		}
	}
	return list(out, waiting, "nothing is pending", err)
}

func (d *Desk) history(ctx context.Context, out io.Writer, _ string, args []string) error {
	if len(args) != 1 {
		return errors.New("history ACCOUNT: which account?")
	}
	units, err := d.Book.History(ctx, args[0])
	if err != nil {
		return err
	}
	undecided, err := d.undecided(ctx, args[0])
	if err := listPayments(out, undecided, err); err != nil {
		return err
	}
	return list(out, units, "no units for "+args[0], nil)
}

func (d *Desk) resend(ctx context.Context, out io.Writer, actor string, args []string) error {
	return decideBy(ctx, out, actor, args, d.Book.Resend, "%s will be given again\n")
}

func (d *Desk) settle(ctx context.Context, out io.Writer, actor string, args []string) error {
	return decideBy(ctx, out, actor, args, d.Book.Settle, "%s is settled\n")
}

func decideBy(ctx context.Context, out io.Writer, actor string, args []string, decide func(context.Context, string, inbox.Decision) error, done string) error {
	if len(args) == 0 {
		return errors.New("which unit? pending and history show the keys")
	}
	reason := strings.Join(args[1:], " ")
	if reason == "" {
		reason = "no reason given"
	}
	if err := decide(ctx, args[0], inbox.Decision{Actor: actor, Reason: reason}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, done, args[0])
	return err
}

// check does what would happen by itself a little later.
func (d *Desk) check(ctx context.Context, out io.Writer, _ string, _ []string) error {
	report, err := d.Box.Reconcile(ctx)
	if err != nil {
		return err
	}
	d.Book.LookNow()
	polled := d.Poller.Stats()
	_, err = fmt.Fprintf(out, "asked for %d payments of ours: %d recovered, %d not paid, %d without an answer; %d named by webhooks wait\nlast poll %s, %d payments received by polls\n",
		report.Asked, report.Recovered, report.StillUnpaid, report.Failed, report.Hints, polled.LastPoll.UTC().Format(time.RFC3339), polled.Received)
	return err
}

func (d *Desk) recover(ctx context.Context, out io.Writer, _ string, args []string) error {
	if len(args) != 1 {
		return errors.New("recover PAYMENT_ID: which payment?")
	}
	id, err := uuid.Parse(args[0])
	if err != nil {
		return fmt.Errorf("%q is not a payment id: %w", args[0], err)
	}
	if err := d.Box.Webhook().RecordHint(ctx, id); err != nil { // first: the confirm may complete it
		return err
	}
	p, err := d.Watch.Confirm(ctx, id)
	if err != nil {
		return fmt.Errorf("not now, and it is asked for again by itself: %w", err)
	}
	if err := d.Box.Webhook().Accept(ctx, p); err != nil {
		return err
	}
	e, err := d.Box.Get(ctx, id.String())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s is in the ledger: %s\n", id, standing(e))
	return err
}

func list(out io.Writer, units []Grant, none string, err error) error {
	if err == nil && len(units) == 0 {
		_, err = fmt.Fprintln(out, none)
	}
	for _, g := range units {
		if err == nil {
			_, err = fmt.Fprintln(out, g)
		}
	}
	return err
}

// String is one line for the operator.
func (g Grant) String() string {
	text := fmt.Sprintf("%s  %s  %s  %s", g.Key, shown(g.Account), g.Item, g.State)
	if !g.GrantedAt.IsZero() {
		text += " at " + g.GrantedAt.Format(time.RFC3339)
	}
	if g.Reason != "" {
		text += ": " + oneLine(g.Reason)
	}
	return text
}

// shown is an account for a person's eyes: who buys may choose any text, which must not
// look like more than it is.
func shown(account string) string {
	quoted := strconv.Quote(account)
	if account == "" || strings.Contains(account, " ") || quoted != `"`+account+`"` {
		return quoted
	}
	return account
}

// oneLine is a text of others, which may be about what a player has chosen.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
