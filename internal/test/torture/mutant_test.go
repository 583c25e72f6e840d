//go:build unix

package torture

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// mutant is a bug of a merchant that the campaign must find.
type mutant string

const (
	outside   mutant = "the effect is written outside the transaction"
	doneAtEnd mutant = "done is written at the end, without a fence"
	early     mutant = "acknowledged before it is stored"
	forgetful mutant = "duplicates are remembered in memory only"
	finalNo   mutant = "a rejected confirm is final"
	again     mutant = "a failed poll is repeated without a report"
	believer  mutant = "webhooks are trusted without a confirm"
	generous  mutant = "any paid amount is accepted"
	traceless mutant = "polls are not journaled"
	hushing   mutant = "every second lost response goes unreported"
	careless  mutant = "complete responses are dropped and reported as lost"
	settler   mutant = "possible losses are settled at once"
	deaf      mutant = "webhooks are rejected"
	idle      mutant = "the inbox does nothing until the next start"
	mixing    mutant = "store payments are granted to another identifier"
	replaying mutant = "the HTTP transport re-sends polls"
	hasty     mutant = "polls time out before the service responds"
	timid     mutant = "every empty poll is reported as lost"
	slow      mutant = "the handler hangs for a while"
)

// channels are the configurations of both channels: with the inbox's ledgers, unless the
// merchant is a mutant.
func (c *shop) channels() (hook webhook.Config, poll poller.Config) {
	hook.Ledger, poll.Ledger = c.box.Webhook(), c.box.Poller()
	accept := hook.Ledger.Accept
	switch c.Mutant {
	case early: // accepts, and stores when it has the time
		hook.Ledger, poll.Ledger = hintless{hook.Ledger}, rawless{poll.Ledger}
		return both(hook, poll, func(_ context.Context, p payments.Payment) error {
			time.AfterFunc(300*time.Millisecond, func() { _ = accept(context.Background(), p) })
			return nil
		})
	case forgetful:
		memory, err := webhook.NewMemory(func(ctx context.Context, p payments.Payment) error {
			if p.PaidAmount.IsZero() {
				return nil
			}
			return c.effect(ctx, c.ledger, p)
		}, nil)
		if err != nil {
			panic(err)
		}
		return webhook.Config{Sink: memory}, poller.Config{Sink: memory}
	case finalNo: // takes an id that the service rejected once for settled
		hook.Ledger, poll.Ledger = settledNo{hook.Ledger, c}, rawless{poll.Ledger}
		return both(hook, poll, func(ctx context.Context, p payments.Payment) error {
			if c.wasRefused(ctx, p.ID) {
				return nil
			}
			return accept(ctx, p)
		})
	case generous: // takes half the price for the price
		return both(hook, poll, func(ctx context.Context, p payments.Payment) error {
			if paid, _ := p.PaidAmount.Int64(); paid%price != 0 {
				p.PaidAmount = payments.NewAmount(2 * paid)
			}
			return accept(ctx, p)
		})
	case traceless:
		return hook, poller.Config{Sink: poller.SinkFunc(hook.Ledger.Accept)}
	case settler:
		poll.Ledger = settling{poll.Ledger, c}
	case mixing: // grants what was bought in the store to somebody
		return both(hook, poll, func(ctx context.Context, p payments.Payment) error {
			if p.Metadata.GameProduct != "" {
				p.Identifier = "somebody"
			}
			return accept(ctx, p)
		})
	default: // correct, or broken elsewhere
	}
	return hook, poll
}

// both gives the ledgers of both channels another Accept.
func both(hook webhook.Config, poll poller.Config, accept poller.SinkFunc) (webhook.Config, poller.Config) {
	hook.Ledger, poll.Ledger = acceptsWebhooks{hook.Ledger, accept}, acceptsPolls{poll.Ledger, accept}
	return hook, poll
}

type acceptsWebhooks struct {
	webhook.Ledger
	accept poller.SinkFunc
}

func (l acceptsWebhooks) Accept(ctx context.Context, p payments.Payment) error {
	return l.accept(ctx, p)
}

type acceptsPolls struct {
	poller.Ledger
	accept poller.SinkFunc
}

func (l acceptsPolls) Accept(ctx context.Context, p payments.Payment) error { return l.accept(ctx, p) }

// hintless records no hint.
type hintless struct{ webhook.Ledger }

func (hintless) RecordHint(context.Context, uuid.UUID) error { return nil }

// rawless keeps no raw responses, which would bring back what Accept drops.
type rawless struct{ poller.Ledger }

func (l rawless) Begin() poller.Journal { return rawlessJournal{l.Ledger.Begin()} }

type rawlessJournal struct{ poller.Journal }

func (rawlessJournal) BeforePoll(ctx context.Context) (context.Context, error) { return ctx, nil }

// settling takes a possible loss off the report before anybody has seen it.
type settling struct {
	poller.Ledger
	shop *shop
}

func (l settling) Begin() poller.Journal { return settlingJournal{l.Ledger.Begin(), l.shop} }

type settlingJournal struct {
	poller.Journal
	shop *shop
}

func (j settlingJournal) PollLost(ctx context.Context, lost error) error {
	err := j.Journal.PollLost(ctx, lost)
	_, dbErr := j.shop.ledger.ExecContext(ctx, `UPDATE depositpay_polls SET closed_at = beat_at WHERE outcome LIKE 'ambiguous%'`)
	return errors.Join(err, dbErr)
}

// settledNo takes an id that the service rejected for handled.
type settledNo struct {
	webhook.Ledger
	shop *shop
}

const refusedTable = `CREATE TABLE IF NOT EXISTS refused (payment_id text)`

func (l settledNo) State(ctx context.Context, id uuid.UUID) (webhook.State, error) {
	if l.shop.wasRefused(ctx, id) {
		return webhook.StateHandled, nil
	}
	return l.Ledger.State(ctx, id)
}

func (c *shop) wasRefused(ctx context.Context, id uuid.UUID) bool {
	n := 0
	err := c.ledger.QueryRowContext(ctx, `SELECT count(*) FROM refused WHERE payment_id = $1`, id.String()).Scan(&n)
	return err == nil && n > 0
}

// client is the Confirmer of the inbox and the webhook receiver.
type client struct {
	*payments.Client
	shop *shop
}

func (c *shop) confirmer() client { return client{c.client, c} }

func (c client) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	if c.shop.Mutant == finalNo && c.shop.ledger != nil && c.shop.wasRefused(ctx, id) {
		return payments.Payment{}, errors.New("refused before")
	}
	p, err := c.Client.Confirm(ctx, id)
	if e, ok := errors.AsType[*payments.Error](err); ok && e.Code == "PAYMENT_NOT_PAID" && c.shop.Mutant == finalNo {
		_, dbErr := c.shop.ledger.ExecContext(ctx, `INSERT INTO refused (payment_id) VALUES ($1)`, id.String())
		err = errors.Join(err, dbErr)
	}
	return p, err
}
