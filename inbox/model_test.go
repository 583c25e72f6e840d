package inbox_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestModel draws sequences of everything that can happen to a few payments, and does the
// same to an inbox on SQLite, to one on PostgreSQL and to the model. All three must agree
// on all that Get, List and Receipts show, and on the effects. A failure is shrunk to a few
// steps; the seed that it prints repeats it.
func TestModel(t *testing.T) {
	t.Parallel()
	checks := "60"
	if testing.Short() || racing.On {
		checks = "12"
	}
	if flag.Lookup("rapid.checks").Value.String() == "100" { // nobody has set it
		require.NoError(t, flag.Set("rapid.checks", checks))
	}
	require.NoError(t, flag.Set("rapid.nofailfile", "true")) // the seed is enough
	require.NoError(t, flag.Set("rapid.shrinktime", (patience/2).String()))
	db := pgtest.New(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		m := &machine{ledger: newLedger(), claims: map[string][]held{}}
		for i := range 4 {
			m.ids = append(m.ids, uuid.NewSHA1(uuid.Nil, fmt.Append(nil, n, i)))
		}
		m.copies = []*copyOf{newCopy(r, m, nil, db.DB, fmt.Sprintf("m%d_", n)), newCopy(r, m, openLedger(t, filepath.Join(t.TempDir(), "shop.db")), nil, "")}
		defer func() {
			for _, c := range m.copies {
				require.NoError(r, c.box.Close())
			}
		}()
		m.reconcileAll(r)
		r.Repeat(m.actions())
		m.compare(r)
	})
}

// machine is the model and the inboxes that are to behave like it.
type machine struct {
	*ledger
	copies []*copyOf
	ids    []uuid.UUID
	claims map[string][]held // in hand, the late ones included, of each payment
	steps  int
	// strangers is how many ids were made up.
	strangers int
	// What the service and the handler do next.
	reply  reply
	record record
	create error
	ending ending
}

// copyOf is one inbox.
type copyOf struct {
	m      *machine
	box    *inbox.Inbox
	cfg    inbox.Config
	db     *sql.DB
	prefix string
	claims map[string][]inbox.Claim
}

func newCopy(r *rapid.T, m *machine, file *inbox.SQLite, db *sql.DB, prefix string) *copyOf {
	c := &copyOf{m: m, db: db, prefix: cmp.Or(prefix, inbox.DefaultTablePrefix), claims: map[string][]inbox.Claim{}}
	if file != nil {
		c.db = file.Writer
	}
	c.cfg = inbox.Config{
		DB: db, SQLite: file, TablePrefix: prefix, Client: c, Handler: c.handle, MaxAttempts: modelTries, MaxHints: modelHints,
		BackoffMin: time.Hour, BackoffMax: time.Hour, Logger: slog.New(slog.DiscardHandler),
	}
	_, err := c.db.Exec(`CREATE TABLE ` + c.prefix + `effects (payment_id text NOT NULL)`)
	require.NoError(r, err)
	c.open(r)
	return c
}

func (c *copyOf) open(r *rapid.T) {
	var err error
	c.box, err = inbox.Open(context.Background(), c.cfg)
	require.NoError(r, err)
	c.claims = map[string][]inbox.Claim{}
}

func (c *copyOf) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO `+c.prefix+`effects (payment_id) VALUES ('`+p.ID.String()+`')`); err != nil {
		return err
	}
	switch c.m.ending {
	case endsWell:
		return nil
	case endsCancel:
		return inbox.Cancel(errors.New(string(endsCancel)))
	case endsSnooze:
		return inbox.Snooze(time.Hour)
	case endsFailing:
	}
	return errors.New(string(endsFailing))
}

// Confirm, Create and Decode are the service.
func (c *copyOf) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	switch c.m.reply {
	case replyPaid:
		return c.m.payment(id), nil
	case replyUnpaid:
		return payments.Payment{}, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	case replyLost:
	}
	return payments.Payment{}, fmt.Errorf("the answer is lost: %w", payments.ErrAmbiguous)
}

func (c *copyOf) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, c.m.create
}

func (c *copyOf) Decode([]byte) (payments.Payment, error) { return payments.Payment{}, errNobody }

// payment is what the service says of an id now.
func (m *machine) payment(id uuid.UUID) payments.Payment { return paymentOf(id, m.record) }

func paymentOf(id uuid.UUID, rec record) payments.Payment {
	amount, err := payments.ParseAmount(rec.amount)
	if err != nil {
		panic(err) // of the test
	}
	return payments.Payment{
		ID: id, Identifier: rec.identifier, Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: amount, VerifiedAt: time.Unix(1, 0).UTC(),
	}
}

func (m *machine) each(do func(*copyOf)) {
	for _, c := range m.copies {
		do(c)
	}
}

var (
	drawRecord = rapid.Custom(func(r *rapid.T) record {
		return record{rapid.SampledFrom([]string{"kim", "lee", ""}).Draw(r, "identifier"), rapid.SampledFrom([]string{"500", "0", "700"}).Draw(r, "amount")}
	})
	drawEnding = rapid.SampledFrom([]ending{endsWell, endsFailing, endsCancel, endsSnooze})
	drawReply  = rapid.SampledFrom([]reply{replyPaid, replyUnpaid, replyLost})
)

// state is what is seen of a payment.
type state struct {
	Stage         inbox.Stage
	Own           bool
	Sources       inbox.Channel
	Payment       payments.Payment
	Reason        string
	Confirm       inbox.ConfirmState
	Attempt       int64
	Tries, Seen   int
	Receipts      []string
	Effects       int
	Listed, Known bool
}

func (m *machine) want(id uuid.UUID) state {
	r := m.rows[id.String()]
	if r == nil {
		return state{}
	}
	s := state{
		Stage: r.stage, Own: r.own, Sources: r.sources, Reason: r.reason, Confirm: r.confirm, Attempt: r.attempt, Tries: r.tries, Seen: r.seen,
		Effects: m.effects[id.String()], Listed: true, Known: true,
	}
	if r.record != nil {
		s.Payment = paymentOf(id, *r.record)
	}
	if !r.firstIsReceipt && r.stage >= inbox.StageReady {
		s.Receipts = append(s.Receipts, m.line(id, receipt{channel: r.sources, outcome: inbox.OutcomeAccepted, record: r.record, dropped: r.dropped}))
	}
	for _, line := range m.receipts[id.String()] {
		s.Receipts = append(s.Receipts, m.line(id, line))
	}
	return s
}

func (m *machine) line(id uuid.UUID, l receipt) string {
	body := l.text
	switch {
	case l.dropped:
		body = ""
	case l.record != nil:
		text, err := json.Marshal(paymentOf(id, *l.record))
		if err != nil {
			panic(err)
		}
		body = string(text)
	}
	return fmt.Sprintf("%d %s %d %s", l.channel, l.outcome, l.attempt, body)
}

func (c *copyOf) state(r *rapid.T, id uuid.UUID, listed map[string]inbox.Entry) state {
	e, err := c.box.Get(context.Background(), id.String())
	if errors.Is(err, inbox.ErrNotFound) {
		_, inList := listed[id.String()]
		return state{Listed: inList}
	}
	require.NoError(r, err)
	s := state{
		Stage: e.Stage, Own: e.Own, Sources: e.Sources, Payment: e.Payment, Reason: e.Reason, Confirm: e.Confirm, Attempt: e.Attempt, Tries: e.Tries,
		Seen: e.Seen, Listed: assert.ObjectsAreEqual(listed[id.String()], e), Known: true,
	}
	receipts, err := c.box.Receipts(context.Background(), id.String())
	require.NoError(r, err)
	for _, line := range receipts {
		s.Receipts = append(s.Receipts, fmt.Sprintf("%d %s %d %s", line.Channel, line.Outcome, line.Attempt, line.Body))
	}
	require.NoError(r, c.db.QueryRow(`SELECT count(*) FROM `+c.prefix+`effects WHERE payment_id = '`+id.String()+`'`).Scan(&s.Effects))
	return s
}

// compare looks at everything.
func (m *machine) compare(r *rapid.T) {
	for _, c := range m.copies {
		require.NoError(r, inbox.Fold(c.box))
		listed := map[string]inbox.Entry{}
		for e, err := range c.box.List(context.Background(), inbox.Filter{}) {
			require.NoError(r, err)
			listed[e.Key] = e
		}
		require.ElementsMatch(r, slices.Collect(maps.Keys(m.rows)), slices.Collect(maps.Keys(listed)), "on %s", c.name())
		for i, id := range m.ids {
			require.Equal(r, m.want(id), c.state(r, id, listed), "payment %d on %s", i, c.name())
		}
	}
}

func (c *copyOf) name() inbox.Dialect {
	if c.cfg.SQLite != nil {
		return inbox.DialectSQLite
	}
	return inbox.DialectPostgreSQL
}

// requireStanding: what is accepted is in safe hands at once, folded or not.
func (c *copyOf) requireStanding(r *rapid.T, id uuid.UUID) {
	want := webhook.StateUnknown
	switch row := c.m.rows[id.String()]; {
	case row == nil:
	case row.stage >= inbox.StageReady:
		want = webhook.StateHandled
	case row.own:
		want = webhook.StateExpected
	}
	got, err := c.box.Webhook().State(context.Background(), id)
	require.NoError(r, err)
	require.Equal(r, want, got, "on %s", c.name())
}
