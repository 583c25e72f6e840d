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

// mutant is a way for a merchant to do it wrong, which the campaign must find out.
type mutant string

const (
	outside   mutant = "the effect is written outside the transaction"
	doneAtEnd mutant = "done is marked at the end, without a fence"
	early     mutant = "acknowledged before it is stored"
	forgetful mutant = "repeats are known in memory only"
	finalNo   mutant = "a negative confirm is final"
	again     mutant = "a poll that fails is repeated in silence"
	believer  mutant = "the webhook's word is enough"
	generous  mutant = "any amount is enough"
	traceless mutant = "polls leave no trace"
	hushing   mutant = "every second lost answer is kept quiet"
	careless  mutant = "whole answers are dropped and called lost"
	settler   mutant = "possible losses are settled at once"
	deaf      mutant = "webhooks are refused"
	idle      mutant = "nothing is done until the next start"
	mixing    mutant = "payments of the store go to somebody else"
	replaying mutant = "the transport sends polls again"
	hasty     mutant = "polls give up before the service answers"
	timid     mutant = "every empty poll is called lost"
	slow      mutant = "the hand-over stands still for a while"
)

// sink is what both channels hand payments to.
type sink interface {
	webhook.Sink
	poller.Sink
}

// sink is the inbox, unless the merchant is a mutant.
func (c *shop) sink() sink {
	switch c.Mutant {
	case early:
		return &earlySink{c.box}
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
		return memory
	case finalNo:
		return &finalSink{c.box, c}
	case generous:
		return &generousSink{c.box}
	case traceless:
		return struct{ webhook.Ledger }{c.box}
	case settler:
		return &settlingSink{c.box, c}
	case mixing:
		return &mixingSink{c.box}
	default: // right, or wrong elsewhere
		return c.box
	}
}

// journalSink is the inbox with everything that a sink may have.
type journalSink interface {
	webhook.Ledger
	poller.Journal
}

// earlySink says yes, and writes it down when it has the time.
type earlySink struct{ journalSink }

func (s *earlySink) Note(context.Context, uuid.UUID) error { return nil }

func (s *earlySink) BeforePoll(ctx context.Context) (context.Context, error) { return ctx, nil }

func (s *earlySink) Accept(_ context.Context, p payments.Payment) error {
	time.AfterFunc(300*time.Millisecond, func() { _ = s.journalSink.Accept(context.Background(), p) })
	return nil
}

func (s *earlySink) AcceptPolled(ctx context.Context, p payments.Payment) error {
	return s.Accept(ctx, p)
}

// generousSink takes what was paid for what was asked.
type generousSink struct{ journalSink }

func (s *generousSink) Accept(ctx context.Context, p payments.Payment) error {
	if paid, _ := p.PaidAmount.Int64(); paid%price != 0 { // half of it
		p.PaidAmount = payments.NewAmount(2 * paid)
	}
	return s.journalSink.Accept(ctx, p)
}

func (s *generousSink) AcceptPolled(ctx context.Context, p payments.Payment) error {
	return s.Accept(ctx, p)
}

// mixingSink grants what was bought in the store to somebody.
type mixingSink struct{ journalSink }

func (s *mixingSink) Accept(ctx context.Context, p payments.Payment) error {
	if p.Metadata.GameProduct != "" {
		p.Identifier = "somebody"
	}
	return s.journalSink.Accept(ctx, p)
}

func (s *mixingSink) AcceptPolled(ctx context.Context, p payments.Payment) error {
	return s.Accept(ctx, p)
}

// settlingSink takes a possible loss off the report before anybody has seen it.
type settlingSink struct {
	journalSink
	shop *shop
}

func (s *settlingSink) PollLost(ctx context.Context, lost error) error {
	err := s.journalSink.PollLost(ctx, lost)
	_, dbErr := s.shop.ledger.ExecContext(ctx, `UPDATE depositpay_polls SET closed_at = beat_at WHERE outcome LIKE 'ambiguous%'`)
	return errors.Join(err, dbErr)
}

// finalSink takes an id that the service did not confirm once for settled.
type finalSink struct {
	journalSink
	shop *shop
}

const refusedTable = `CREATE TABLE IF NOT EXISTS refused (payment_id text)`

func (s *finalSink) Standing(ctx context.Context, id uuid.UUID) (webhook.Standing, error) {
	if s.shop.wasRefused(ctx, id) {
		return webhook.StandingHandled, nil
	}
	return s.journalSink.Standing(ctx, id)
}

func (s *finalSink) Accept(ctx context.Context, p payments.Payment) error {
	if s.shop.wasRefused(ctx, p.ID) {
		return nil
	}
	return s.journalSink.Accept(ctx, p)
}

func (s *finalSink) AcceptPolled(ctx context.Context, p payments.Payment) error {
	return s.Accept(ctx, p)
}

// BeforePoll keeps no raw answers, which would bring back what Accept drops.
func (s *finalSink) BeforePoll(ctx context.Context) (context.Context, error) { return ctx, nil }

func (c *shop) wasRefused(ctx context.Context, id uuid.UUID) bool {
	n := 0
	err := c.ledger.QueryRowContext(ctx, `SELECT count(*) FROM refused WHERE payment_id = $1`, id.String()).Scan(&n)
	return err == nil && n > 0
}

// client is what the inbox and the webhook receiver ask.
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
