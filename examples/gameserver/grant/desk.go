package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/depositpay/depositpay-go/inbox"
)

// Desk is the operator's console: each command is one line of text. Connect it to the console
// of your game, or to your panel, and give it to nobody else.
type Desk struct {
	Book *Book
	Box  *inbox.Inbox
}

const help = `list                             units not given yet, and payments that need a decision
show ACCOUNT | PAYMENT_ID        all units of a player, or a payment with its units and decisions
retry KEY | PAYMENT_ID REASON…   gives a unit again; gives a payment in review as it is; runs a dead one again
settle KEY | PAYMENT_ID REASON…  closes a unit or payment that you gave by hand, or paid back: nothing more is given`

// Do runs a line for actor and writes the answer to out. The error is out's; what is wrong
// with the line is part of the answer.
func (d *Desk) Do(ctx context.Context, out io.Writer, actor, line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	id, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	by := inbox.Decision{Actor: actor, Reason: strings.TrimSpace(reason)}
	var answer lines
	var err error
	switch verb {
	case "list":
		err = d.list(ctx, &answer)
	case "show":
		err = d.show(ctx, &answer, id)
	case "retry", "settle":
		if err = d.decide(ctx, verb, id, by); err == nil {
			answer.add("done: %s", id)
		}
	default:
		answer = strings.Split(help, "\n")
	}
	if err != nil {
		answer.add("%v", err)
	}
	_, err = io.WriteString(out, strings.Join(answer, "\n")+"\n")
	return err
}

// lines are an answer. Players choose some of its text, which must not make lines of its own
// or control the terminal.
type lines []string

func (l *lines) add(format string, args ...any) {
	*l = append(*l, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...)))
}

func (l *lines) addUnits(units []Grant) {
	for _, g := range units {
		l.add("%s  %q  %s  %s at %s  %s", g.Key, g.Account, g.Item, g.State, g.ChangedAt.Format(time.RFC3339), g.Reason)
	}
}

func (l *lines) addPayment(e inbox.Entry) {
	l.add("%s  %q paid %s  %s  %s", e.Key, e.Payment.Identifier, e.Payment.PaidAmount, e.Stage, e.Reason)
}

// list shows units, and payments that became no units because a person has to decide.
func (d *Desk) list(ctx context.Context, answer *lines) error {
	waiting, err := d.Book.Waiting(ctx, 100)
	if err != nil {
		return err
	}
	answer.addUnits(waiting)
	for e, err := range d.Box.List(ctx, inbox.Filter{Stages: []inbox.Stage{inbox.StageReview, inbox.StageDead}}) {
		if err == nil {
			err = rejected(ctx, d.Book.ledger.Reader, e.Key)
		}
		if err != nil && !errors.Is(err, ErrRejected) {
			return err
		}
		if err == nil && !e.Rejected && len(*answer) < 200 {
			answer.addPayment(e)
		}
	}
	if len(*answer) == 0 {
		answer.add("nothing waits")
	}
	return nil
}

func (d *Desk) show(ctx context.Context, answer *lines, id string) error {
	e, err := d.Box.Get(ctx, id)
	if errors.Is(err, inbox.ErrNotFound) {
		units, err := d.Book.OfAccount(ctx, id)
		answer.addUnits(units)
		if len(units) == 0 {
			answer.add("no payment %q, and no units of a player with this id", id)
		}
		return err
	}
	if err != nil {
		return err
	}
	answer.addPayment(e)
	units, err := d.Book.OfPayment(ctx, id)
	answer.addUnits(units)
	audit, err2 := d.Box.Audit(ctx, id)
	decisions, err3 := d.Book.Decisions(ctx, id)
	for _, a := range slices.Concat(audit, decisions) {
		answer.add("%s  %s by %s: %s", a.At.Format(time.RFC3339), a.Action, a.Decision.Actor, a.Decision.Reason)
	}
	return errors.Join(err, err2, err3)
}

// decide runs a decision about a unit, whose key has a colon, or about a payment.
func (d *Desk) decide(ctx context.Context, verb, id string, by inbox.Decision) error {
	unit, retry := strings.Contains(id, ":"), verb == "retry"
	switch {
	case by.Reason == "":
		return errors.New("which unit or payment, and why? list shows the keys")
	case unit && retry:
		return d.Book.Retry(ctx, id, by)
	case unit:
		return d.Book.Settle(ctx, id, by)
	}
	e, err := d.Box.Get(ctx, id)
	switch {
	case errors.Is(err, inbox.ErrNotFound):
		return fmt.Errorf("%w: if the dashboard has it as complete, send its id to the webhook (README.md)", err)
	case err != nil:
		return err
	case retry && e.Stage == inbox.StageReview:
		return d.Box.Approve(ctx, id, by)
	case retry:
		return d.Box.Retry(ctx, id, by)
	case e.Stage == inbox.StageDead && !e.Rejected:
		return d.Book.Reject(ctx, id, by) // the inbox rejects payments in review only
	}
	return d.Box.Reject(ctx, id, by)
}
