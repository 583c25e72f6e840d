//go:build unix

package torture

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
)

// row is a payment in the ledger.
type row struct {
	stage  inbox.Stage
	source inbox.Channel
}

// effect is a grant written by the handler.
type effect struct{ identifier, product, amount string }

// effectOf returns the grant that p must lead to.
func effectOf(p mockserver.Payment) effect {
	return effect{p.Identifier, p.GameProduct, strconv.FormatInt(p.PaidAmount, 10)}
}

// line is an entry of the poll journal.
type line struct {
	opened, beat int64 // µs
	closed       bool
	proven       bool // it was closed by its proof
	outcome      string
}

// ledgers are the merchant's tables.
type ledgers struct {
	payments map[string]row
	effects  map[string][]effect
	polls    []line          // by opened
	came     map[string]bool // see readCame
}

// read reads the merchant's tables in one snapshot.
func (c *campaign) read() ledgers {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if c.cluster == nil {
		options = nil // every transaction of SQLite's is one moment
	}
	tx, err := c.ledger.BeginTx(c.t.Context(), options)
	require.NoError(c.t, err)
	defer func() { _ = tx.Rollback() }()
	l := ledgers{payments: map[string]row{}, effects: map[string][]effect{}}
	c.query(tx, `SELECT payment_id, stage, source FROM depositpay_payments`, func(scan func(...any) error) error {
		var id string
		var r row
		err := scan(&id, &r.stage, &r.source)
		l.payments[id] = r
		return err
	})
	c.query(tx, `SELECT payment_id, identifier, product, amount FROM effects`, func(scan func(...any) error) error {
		var id string
		var e effect
		err := scan(&id, &e.identifier, &e.product, &e.amount)
		l.effects[id] = append(l.effects[id], e)
		return err
	})
	c.query(tx, `SELECT opened_at, beat_at, closed_at IS NOT NULL, outcome,
		EXISTS (SELECT 1 FROM depositpay_audit a WHERE a.payment_id = p.poll_id AND a.action = 'settle loss' AND a.actor = 'inbox' AND a.reason LIKE 'proven empty: %')
		FROM depositpay_polls p ORDER BY opened_at`, func(scan func(...any) error) error {
		var p line
		err := scan(&p.opened, &p.beat, &p.closed, &p.outcome, &p.proven)
		l.polls = append(l.polls, p)
		return err
	})
	return l
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (c *campaign) query(from queryer, query string, each func(scan func(...any) error) error, args ...any) {
	c.t.Helper()
	rows, err := from.QueryContext(c.t.Context(), query, args...)
	require.NoError(c.t, err, query)
	for rows.Next() {
		require.NoError(c.t, each(rows.Scan), query)
	}
	require.NoError(c.t, rows.Err(), query)
	require.NoError(c.t, rows.Close())
}

// wrong is a kind of finding.
type wrong string

const (
	lost          wrong = "lost"
	doubled       wrong = "doubled"
	unverified    wrong = "unverified"
	unreported    wrong = "unreported"
	falsePositive wrong = "false positive"
	late          wrong = "late"
)

// finding is a payment, poll or report that breaks a promise.
type finding struct {
	Kind wrong  `json:"kind"`
	ID   string `json:"payment_id,omitempty"`
	Why  string `json:"why"`

	// Of what need not be about a payment:
	at   time.Time
	poll *poll // whose lost response was not reported
}

// verdict is the result of a comparison.
type verdict struct {
	findings  []finding
	missing   []mockserver.Payment // complete, and not in the merchant's ledger
	completed int
	granted   int
	review    int
	stages    map[inbox.Stage]int
}

// compare compares the merchant's ledger with the service's payments.
func compare(service []mockserver.Payment, l ledgers) verdict {
	v := verdict{stages: map[inbox.Stage]int{}}
	known := map[string]bool{}
	for _, p := range service {
		known[p.ID] = true
		v.payment(p, l)
	}
	for id := range l.effects {
		if !known[id] {
			v.add(unverified, id, "the service has no such payment")
		}
	}
	for _, r := range l.payments {
		v.stages[r.stage]++
	}
	slices.SortFunc(v.findings, func(a, b finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return v
}

func (v *verdict) add(kind wrong, id, why string) {
	v.findings = append(v.findings, finding{Kind: kind, ID: id, Why: why})
}

// payment compares one payment of the service. A grant needs a COMPLETE payment that brought
// at least its price.
func (v *verdict) payment(p mockserver.Payment, l ledgers) {
	r, inLedger := l.payments[p.ID]
	effects := len(l.effects[p.ID])
	complete := p.Status == mockserver.StatusComplete
	if complete {
		v.completed++
	}
	switch due := complete && p.PaidAmount >= p.Amount; {
	case effects > 0 && !due:
		v.add(unverified, p.ID, "granted, and not paid or not enough")
	case effects > 0 && l.effects[p.ID][0] != effectOf(p):
		v.add(unverified, p.ID, fmt.Sprintf("granted as %v, and the service says %v", l.effects[p.ID][0], effectOf(p)))
	case effects > 1:
		v.add(doubled, p.ID, "granted more than once")
	case p.Status == mockserver.StatusProgress:
		v.add(lost, p.ID, "paid, and still at the service")
	case complete && !inLedger && effects == 0:
		v.missing = append(v.missing, p)
	case due && effects == 0:
		v.add(lost, p.ID, "complete and in the ledger as "+r.stage.String()+", and not granted")
	case due && r.stage != inbox.StageDone:
		v.add(doubled, p.ID, "granted and "+r.stage.String()+" in the ledger: it would be granted again")
	case due:
		v.granted++
	case complete && r.stage != inbox.StageReview:
		v.add(lost, p.ID, "complete without enough money and "+r.stage.String()+" in the ledger: nobody looks at it")
	case complete:
		v.review++
	}
}

// settle waits until the ledgers agree or nothing changes any more.
func (c *campaign) settle() {
	patience := 20 * time.Second
	if c.profile.Mutant != "" {
		patience = 4 * time.Second // they never agree
	}
	var before [6]int
	changed := time.Now()
	limit := time.Minute + c.length // a long campaign leaves more to read
	c.await(limit, "the merchants do not come to rest", func() bool {
		began := time.Now()
		l := c.read() // first: what the service has besides is on its way
		v := compare(c.service.Payments(), l)
		now := [6]int{len(v.findings), len(v.missing), v.granted, v.review, v.stages[inbox.StageReady], v.stages[inbox.StageHint]}
		if now != before {
			before, changed = now, time.Now()
		}
		if c.profile.Mutant != "" && slices.ContainsFunc(v.findings, func(f finding) bool { return f.Kind != lost }) {
			return true // nothing can make that good
		}
		<-time.After(2 * time.Since(began)) // the merchants need the processor more
		if !c.profile.uses(inbox.ChannelPoll) {
			c.service.nextAttempt() // nothing else tells of a payment of the store
		}
		for _, m := range c.merchants {
			if m.reconciled.Load() < 2 {
				changed = time.Now()
				return false
			}
		}
		return len(v.findings) == 0 || time.Since(changed) > patience
	})
}

// TestPlan: the plan depends only on its arguments.
func TestPlan(t *testing.T) {
	t.Parallel()
	p := newPlan(7, time.Minute, usual("postgres"))
	assert.Equal(t, p, newPlan(7, time.Minute, usual("postgres")))
	assert.Equal(t, p.fingerprint(), newPlan(7, time.Minute, usual("postgres")).fingerprint())
	assert.NotEqual(t, p.fingerprint(), newPlan(8, time.Minute, usual("postgres")).fingerprint())
	for _, kind := range []trouble{killed, stopped, paused, restarted, stepped, silence, faulty, cutOff, stalled} {
		assert.NotEmpty(t, p[kind], kind)
	}
	for _, e := range p[paused] {
		assert.Greater(t, e.For, shortLease)
	}
	for kind, events := range newPlan(7, 6*time.Second, usual("postgres")) {
		assert.NotEmpty(t, events, "a short campaign has some of everything: %s", kind)
	}
	assert.Len(t, newPlan(7, 6*time.Second, usual("postgres")), len(p))
	ten := newPlan(7, 10*time.Minute, usual("postgres"))
	assert.GreaterOrEqual(t, len(ten[killed]), 150)
	assert.GreaterOrEqual(t, len(ten[paused]), 50)
	assert.GreaterOrEqual(t, len(ten[restarted]), 10)
}

// TestCompare: every difference between the ledgers is found and has the right kind.
func TestCompare(t *testing.T) {
	t.Parallel()
	const complete, progress, created = mockserver.StatusComplete, mockserver.StatusProgress, mockserver.StatusCreated
	for i, c := range []struct {
		status  mockserver.Status
		paid    int64
		stage   inbox.Stage
		effects int
		want    wrong
	}{
		{complete, price, inbox.StageDone, 1, ""},
		{complete, price, inbox.StageDone, 0, lost},
		{complete, price, inbox.StageReady, 0, lost},
		{complete, price, inbox.StageHint, 0, lost},
		{complete, price, inbox.StageReview, 0, lost},
		{complete, price, inbox.StageDead, 0, lost},
		{complete, price, inbox.StageDone, 2, doubled},
		{complete, price, inbox.StageReady, 1, doubled},
		{complete, price / 2, inbox.StageReview, 0, ""},
		{complete, price / 2, inbox.StageReady, 0, lost},
		{complete, price / 2, inbox.StageDone, 1, unverified},
		{complete, 0, inbox.StageReview, 0, ""},
		{complete, 0, inbox.StageDone, 1, unverified},
		{progress, price, inbox.StageExpected, 0, lost},
		{progress, price, inbox.StageDone, 1, unverified},
		{created, 0, inbox.StageExpected, 0, ""},
		{created, 0, inbox.StageHint, 1, unverified},
	} {
		paid := mockserver.Payment{ID: "p", Status: c.status, Amount: price, PaidAmount: c.paid}
		v := compare([]mockserver.Payment{paid}, ledgers{
			payments: map[string]row{"p": {stage: c.stage}}, effects: map[string][]effect{"p": slices.Repeat([]effect{effectOf(paid)}, c.effects)},
		})
		name := fmt.Sprint(i, c)
		assert.Empty(t, v.missing, name)
		if c.want == "" {
			assert.Empty(t, v.findings, name)
			continue
		}
		require.Len(t, v.findings, 1, name)
		assert.Equal(t, c.want, v.findings[0].Kind, name)
	}
	paid := mockserver.Payment{ID: "p", Status: complete, Identifier: "Kim", GameProduct: "sword", Amount: price, PaidAmount: price}
	for _, e := range []effect{{"Lee", "sword", "1000"}, {"Kim", "shield", "1000"}, {"Kim", "sword", "2000"}} {
		v := compare([]mockserver.Payment{paid}, ledgers{payments: map[string]row{"p": {stage: inbox.StageDone}}, effects: map[string][]effect{"p": {e}}})
		require.Len(t, v.findings, 1, e)
		assert.Equal(t, unverified, v.findings[0].Kind, "what nobody bought: %v", e)
	}
	v := compare([]mockserver.Payment{paid}, ledgers{effects: map[string][]effect{"q": {{}}}})
	assert.Len(t, v.missing, 1)
	assert.Equal(t, []finding{{Kind: unverified, ID: "q", Why: "the service has no such payment"}}, v.findings)
}

// TestPublish: the figures replace the text between the marks and nothing else.
func TestPublish(t *testing.T) {
	t.Parallel()
	r := &result{Database: "SQLite 3", Verdict: "passed", Payments: 12}
	document := "before\n<!-- torture sqlite -->\nold\n<!-- end sqlite -->\nafter\n"
	got, err := r.into(document, "sqlite")
	require.NoError(t, err)
	assert.Equal(t, "before\n<!-- torture sqlite -->\n"+r.table()+"<!-- end sqlite -->\nafter\n", got)
	assert.Contains(t, got, "| SQLite 3 | PASSED |")
	_, err = r.into(document, "postgres")
	assert.ErrorContains(t, err, "no mark of postgres")
	_, err = r.into("<!-- torture postgres -->\nold\n", "postgres")
	assert.ErrorContains(t, err, `no mark "<!-- end postgres -->"`)
	got, err = r.into("a\n<!-- torture sqlite in short -->\nold\n<!-- end sqlite in short -->\nb\n", "sqlite")
	require.NoError(t, err)
	assert.Equal(t, "a\n<!-- torture sqlite in short -->\n"+r.short()+"<!-- end sqlite in short -->\nb\n", got)
	assert.Contains(t, r.short(), "12 payments")
}
