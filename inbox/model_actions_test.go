package inbox_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

var byHand = inbox.Decision{Actor: "kim", Reason: "looked at it"}

// actions are what may happen. What a person decides is about what the ledger shows, so
// it is folded first.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"accept":    m.doAccept,
		"note":      m.doNote,
		"flood":     m.doFlood,
		"refused":   m.doRefused,
		"expect":    m.doExpect,
		"create":    m.doCreate,
		"confirm":   m.doConfirm,
		"reconcile": m.doReconcile,
		"claim":     m.doClaim,
		"handle":    m.doHandle,
		"handOver":  m.doHandOver,
		"pass":      m.doPass,
		"decide":    m.doDecide,
		"retention": m.doRetention,
		"evict":     m.doEvict,
		"restart":   m.doRestart,
		"":          m.check,
	}
}

// check looks at everything now and then: looking folds, and what waits in the intake
// file together is to be seen too.
func (m *machine) check(r *rapid.T) {
	m.steps++
	if m.steps%5 == 0 {
		m.compare(r)
	}
}

func (m *machine) drawID(r *rapid.T) uuid.UUID {
	return m.ids[rapid.IntRange(0, len(m.ids)-1).Draw(r, "payment")]
}

func (m *machine) doAccept(r *rapid.T) {
	id, rec, polled := m.drawID(r), drawRecord.Draw(r, "record"), rapid.Bool().Draw(r, "polled")
	channel := inbox.ChannelWebhook
	if polled {
		channel = inbox.ChannelPoll
	}
	m.accept(id.String(), rec, channel)
	m.each(func(c *copyOf) {
		deliver := c.box.Webhook().Accept
		if polled {
			deliver = c.box.Poller().Accept
		}
		require.NoError(r, deliver(context.Background(), paymentOf(id, rec)))
		c.requireStanding(r, id)
	})
}

func (m *machine) doNote(r *rapid.T) {
	m.noteAll(r, m.drawID(r))
}

// noteAll counts what the ledger has, so it is folded first.
func (m *machine) noteAll(r *rapid.T, id uuid.UUID) (noted bool) {
	noted = m.note(id.String())
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		err := c.box.Webhook().RecordHint(context.Background(), id)
		if noted {
			require.NoError(r, err, "on %s", c.name())
		} else {
			require.ErrorIs(r, err, webhook.ErrFull, "on %s", c.name())
		}
	})
	return noted
}

// doRefused is how the confirm of a webhook fails.
func (m *machine) doRefused(r *rapid.T) {
	m.refuse(r, m.drawID(r))
}

func (m *machine) refuse(r *rapid.T, id uuid.UUID) {
	answer, no := error(&payments.Error{Op: "Confirm", Code: "NOT_PAID"}), rapid.Bool().Draw(r, "no")
	if !no {
		answer = payments.ErrAmbiguous
	}
	if row := m.rows[id.String()]; no && row != nil && row.stage == inbox.StageHint && !row.own && row.confirm == inbox.ConfirmNamed {
		row.confirm = inbox.ConfirmRejected
	}
	m.each(func(c *copyOf) { require.NoError(r, c.box.Webhook().ConfirmFailed(context.Background(), id, answer)) })
}

// doFlood is a stranger's webhook.
func (m *machine) doFlood(r *rapid.T) {
	m.strangers++
	id := uuid.NewSHA1(m.ids[0], fmt.Append(nil, m.strangers))
	if m.noteAll(r, id) {
		m.refuse(r, id)
	}
}

func request(rec record) payments.CreateRequest {
	amount, err := payments.ParseAmount(rec.amount)
	if err != nil {
		panic(err)
	}
	return payments.CreateRequest{Title: "Sword", Identifier: rec.identifier, Amount: amount}
}

func (m *machine) doExpect(r *rapid.T) {
	id, rec := m.drawID(r), drawRecord.Draw(r, "order")
	m.bind(m.open(order{identifier: rec.identifier, amount: rec.amount}), id.String())
	m.each(func(c *copyOf) {
		require.NoError(r, c.box.Expect(context.Background(), id, request(rec)))
		standing, err := c.box.Webhook().State(context.Background(), id)
		require.NoError(r, err)
		// It need not know that the payment is handled already: that costs a confirm.
		require.NotEqual(r, webhook.StateUnknown, standing)
	})
}

// doCreate is a creation that does not succeed: refused, or nobody knows.
func (m *machine) doCreate(r *rapid.T) {
	rec := record{rapid.SampledFrom([]string{"kim", "lee"}).Draw(r, "identifier"), "500"}
	o := m.open(order{identifier: rec.identifier, amount: rec.amount})
	m.create = payments.ErrAmbiguous
	if rapid.Bool().Draw(r, "refused") {
		m.cancel(o)
		m.create = &payments.Error{Op: "Create", Code: "INVALID_TOKEN"}
	}
	m.each(func(c *copyOf) {
		_, err := c.box.Create(context.Background(), request(rec))
		require.ErrorIs(r, err, m.create)
	})
}

func (m *machine) doConfirm(r *rapid.T) {
	m.reply, m.record = drawReply.Draw(r, "reply"), drawRecord.Draw(r, "record")
	m.confirmDue(m.reply, func(string) record { return m.record })
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		require.NoError(r, inbox.ConfirmDue(c.box))
	})
}

func (m *machine) doReconcile(r *rapid.T) {
	m.reply, m.record = drawReply.Draw(r, "reply"), drawRecord.Draw(r, "record")
	m.reconcile(m.reply, func(string) record { return m.record })
	m.reconcileAll(r)
}

func (m *machine) reconcileAll(r *rapid.T) {
	m.each(func(c *copyOf) {
		_, err := c.box.Reconcile(context.Background())
		require.NoError(r, err)
	})
}

func (m *machine) doClaim(r *rapid.T) {
	claimed := m.claimAll()
	var want []string
	for id, c := range claimed {
		want = append(want, id)
		m.claims[id] = append(m.claims[id], c)
	}
	m.each(func(c *copyOf) {
		claims, err := inbox.ClaimAll(c.box)
		require.NoError(r, err)
		var got []string
		for _, claim := range claims {
			got = append(got, claim.Key())
			c.claims[claim.Key()] = append(c.claims[claim.Key()], claim)
		}
		require.ElementsMatch(r, want, got, "claimed on %s", c.name())
	})
}

// doHandle runs the handler for any claim in hand, also one whose lease is over.
func (m *machine) doHandle(r *rapid.T) {
	id := m.drawID(r).String()
	if len(m.claims[id]) == 0 {
		r.Skip("nothing is claimed")
	}
	m.handleNth(r, id, rapid.IntRange(0, len(m.claims[id])-1).Draw(r, "claim"))
}

func (m *machine) handleNth(r *rapid.T, id string, n int) {
	m.ending = drawEnding.Draw(r, "ending")
	m.handle(m.claims[id][n], m.ending)
	m.claims[id] = slices.Delete(m.claims[id], n, n+1)
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box)) // what was accepted before counts as such
		inbox.Handle(c.box, &c.claims[id][n])
		c.claims[id] = slices.Delete(c.claims[id], n, n+1)
	})
}

// doHandOver is the usual course: claimed and handled.
func (m *machine) doHandOver(r *rapid.T) {
	m.doClaim(r)
	for _, id := range m.ids {
		if n := len(m.claims[id.String()]); n > 0 {
			m.handleNth(r, id.String(), n-1)
		}
	}
}

// doPass lets time pass: leases end, and so do all waits if it is long.
func (m *machine) doPass(r *rapid.T) {
	long := rapid.Bool().Draw(r, "long")
	m.pass(long)
	set := "leased = 0"
	if long {
		set += ", run_at = CASE WHEN run_at < 4000000000000000000 THEN 1 ELSE run_at END"
	}
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		_, err := c.db.Exec(`UPDATE ` + c.prefix + `payments SET ` + set)
		require.NoError(r, err)
	})
}

func (m *machine) doDecide(r *rapid.T) {
	id := m.drawID(r).String()
	type choice struct {
		name     string
		from, to inbox.Stage
		do       func(*inbox.Inbox) func(context.Context, string, inbox.Decision) error
	}
	one := rapid.SampledFrom([]choice{
		{"approve", inbox.StageReview, inbox.StageReady, func(b *inbox.Inbox) func(context.Context, string, inbox.Decision) error { return b.Approve }},
		{"reject", inbox.StageReview, inbox.StageDead, func(b *inbox.Inbox) func(context.Context, string, inbox.Decision) error { return b.Reject }},
		{"retry", inbox.StageDead, inbox.StageReady, func(b *inbox.Inbox) func(context.Context, string, inbox.Decision) error { return b.Retry }},
	}).Draw(r, "decision")
	possible := m.decide(id, one.from, one.to)
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		err := one.do(c.box)(context.Background(), id, byHand)
		if possible {
			require.NoError(r, err, "%s on %s", one.name, c.name())
		} else {
			require.ErrorIs(r, err, inbox.ErrStage, "%s on %s", one.name, c.name())
		}
	})
}

func (m *machine) doEvict(r *rapid.T) {
	m.evict()
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		require.NoError(r, inbox.EvictHints(c.box))
	})
}

// doRetention lets a hundred days pass for what is kept.
func (m *machine) doRetention(r *rapid.T) {
	m.drop()
	past := (100 * 24 * time.Hour).Microseconds()
	m.each(func(c *copyOf) {
		require.NoError(r, inbox.Fold(c.box))
		for _, statement := range []string{
			`UPDATE ` + c.prefix + `receipts SET at = at - $1`,
			`UPDATE ` + c.prefix + `payments SET ready_at = ready_at - $1, asked_at = asked_at - $1, done_at = done_at - $1`,
		} {
			_, err := c.db.Exec(statement, past)
			require.NoError(r, err)
		}
		require.NoError(r, inbox.DropBodies(c.box))
	})
}

// doRestart ends the processes and starts others; what was claimed stays so.
func (m *machine) doRestart(r *rapid.T) {
	m.claims = map[string][]held{}
	m.each(func(c *copyOf) {
		require.NoError(r, c.box.Close())
		c.open(r)
	})
	m.reply = replyLost
	m.reconcile(m.reply, func(string) record { return m.record })
	m.reconcileAll(r)
}
