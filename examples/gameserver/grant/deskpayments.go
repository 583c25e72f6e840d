package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// shownPayments bounds what the operator reads at once.
const shownPayments = 100

// undecided are the payments of which no unit was made, because a person has to decide:
// those in review, and the dead that nobody rejected. identifier "" is all.
func (d *Desk) undecided(ctx context.Context, identifier string) (found []inbox.Entry, err error) {
	f := inbox.Filter{Stages: []inbox.Stage{inbox.StageReview, inbox.StageDead}, Identifier: identifier}
	for e, err := range d.Box.List(ctx, f) {
		if err != nil {
			return nil, err
		}
		if e.Stage == inbox.StageDead {
			if rejectedReview(e) {
				continue
			}
			if err := rejected(ctx, d.Book.cfg.SQLite.Reader, e.Key); errors.Is(err, ErrRejected) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		if found = append(found, e); len(found) == shownPayments {
			break
		}
	}
	return found, nil
}

func (d *Desk) payments(ctx context.Context, out io.Writer, _ string, _ []string) error {
	found, err := d.undecided(ctx, "")
	if err == nil && len(found) == 0 {
		_, err = fmt.Fprintln(out, "no payment waits for a decision")
	}
	return listPayments(out, found, err)
}

func listPayments(out io.Writer, found []inbox.Entry, err error) error {
	for _, e := range found {
		if err != nil {
			break
		}
		what := fmt.Sprintf("%q paid %s", e.Payment.Identifier, e.Payment.PaidAmount)
		if e.Unreadable != "" {
			what = "a record that cannot be read"
		}
		_, err = fmt.Fprintf(out, "%s  %s  %s\n", e.Key, what, standing(e))
	}
	return err
}

// standing is where a payment stands, and why.
func standing(e inbox.Entry) string {
	if e.Reason == "" {
		return e.Stage.String()
	}
	return e.Stage.String() + ": " + oneLine(e.Reason)
}

func (d *Desk) approve(ctx context.Context, out io.Writer, actor string, args []string) error {
	return decidePayment(ctx, out, actor, args, d.Box.Approve, "%s is handed over as it is\n")
}

func (d *Desk) reject(ctx context.Context, out io.Writer, actor string, args []string) error {
	return decidePayment(ctx, out, actor, args, d.rejectPayment, "%s is rejected: nothing is given for it\n")
}

// rejectPayment: the inbox rejects reviews alone, so the book keeps the rejection of a dead one.
func (d *Desk) rejectPayment(ctx context.Context, key string, by inbox.Decision) error {
	if e, err := d.Box.Get(ctx, key); err != nil {
		return err
	} else if e.Stage == inbox.StageDead && !rejectedReview(e) {
		return d.Book.Reject(ctx, key, by)
	}
	return d.Box.Reject(ctx, key, by)
}

// rejectedReview tells that a person has rejected it in review. Retry checks it again.
func rejectedReview(e inbox.Entry) bool {
	return e.Rejected
}

func (d *Desk) retry(ctx context.Context, out io.Writer, actor string, args []string) error {
	return decidePayment(ctx, out, actor, args, d.retryPayment, "%s runs again\n")
}

func (d *Desk) retryPayment(ctx context.Context, key string, by inbox.Decision) error {
	if err := rejected(ctx, d.Book.cfg.SQLite.Reader, key); err != nil {
		return err
	}
	return d.Box.Retry(ctx, key, by)
}

// decidePayment wants a reason, which is kept for ever.
func decidePayment(ctx context.Context, out io.Writer, actor string, args []string, decide func(context.Context, string, inbox.Decision) error, done string) error {
	if len(args) < 2 {
		return errors.New("which payment, and why? payments shows the ids")
	}
	if err := decide(ctx, args[0], inbox.Decision{Actor: actor, Reason: strings.Join(args[1:], " ")}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, done, args[0])
	return err
}

// undecidedLines are for the report, so without the players.
func (d *Desk) undecidedLines(ctx context.Context, say func(string, ...any)) error {
	found, err := d.undecided(ctx, "")
	for _, e := range found {
		say("needs a decision: %s, %s", e.Key, without(e.Payment.Identifier, standing(e)))
	}
	return err
}
