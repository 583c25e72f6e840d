//go:build unix

package torture

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestPlan: the plan is a function of its arguments.
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

// TestCompare: what is wrong with books is found, and called by its name.
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

// TestPublish: the figures go between the marks, and nowhere else.
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
