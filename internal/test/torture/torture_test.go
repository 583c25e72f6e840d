//go:build unix

package torture

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

var (
	seed    = flag.Uint64("seed", 1, "what the plan is made of")
	length  = flag.Duration("length", 8*time.Second, "how long the trouble lasts")
	publish = flag.String("publish", "", "the documents to write the figures into, separated by spaces")
	save    = flag.String("result", "", "the file to write the result into")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }

func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a campaign takes most of a minute")
	}
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			r := run(t, *seed, *length, usual(database))
			t.Log("\n" + r.String())
			if *save != "" {
				require.NoError(t, r.save(*save))
			}
			if *publish != "" {
				require.NoError(t, r.publish(*publish, database))
			}
			assert.Equal(t, "passed", r.Verdict)
			assert.NotZero(t, r.Granted)
			assert.NotZero(t, r.Did[killed])
		})
	}
}

// TestWires: one merchant loses no payment while its connections to PostgreSQL are cut and
// stalled. It is never killed, so no restart repairs anything.
func TestWires(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a campaign takes most of a minute")
	}
	t.Parallel()
	p := usual("postgres")
	p.Merchants, p.Rate, p.Kill, p.Stop, p.Pause, p.Restart = 1, 40, 0, 0, 0, 0
	p.Cut, p.Stall = 300*time.Millisecond, 3*time.Second
	r := run(t, *seed, *length, p)
	t.Log("\n" + r.String())
	assert.Equal(t, "passed", r.Verdict)
	assert.NotZero(t, r.Granted)
	assert.NotZero(t, r.Did[cutOff])
	assert.NotZero(t, r.Did[stalled])
}

// TestOnlyCreated: with Config.OnlyCreated, possible losses are settled by proof, and no
// payment is lost behind one.
func TestOnlyCreated(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a campaign takes most of a minute")
	}
	t.Parallel()
	p := usual("postgres")
	p.OnlyCreated, p.Channel, p.Rate, p.Kill, p.Restart, p.Silence, p.Stop = true, inbox.ChannelPoll, 40, 0, 0, 0, 3*time.Second
	r := run(t, 43, 6*time.Second, p)
	t.Log("\n" + r.String())
	assert.Equal(t, "passed", r.Verdict)
	assert.NotZero(t, r.Reported.Proven, "a report was settled")
}

// TestChannels: merchants that use only one channel pass as well.
func TestChannels(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a campaign takes most of a minute")
	}
	t.Parallel()
	if racing.On {
		t.Skip("SKIPPED: these merchants run the code of TestTorture's; make test runs them without the race detector")
	}
	for name, channel := range map[string]inbox.Channel{"poll": inbox.ChannelPoll, "webhook": inbox.ChannelWebhook} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := usual("sqlite")
			p.Channel, p.Rate, p.Silence = channel, 40, 0
			r := run(t, 41, 6*time.Second, p)
			t.Log("\n" + r.String())
			assert.Equal(t, "passed", r.Verdict)
			assert.NotZero(t, r.Granted)
			assert.Equal(t, channel == inbox.ChannelPoll, r.Reported.Unclean > 0, "a killed poller leaves a line")
			assert.Equal(t, channel == inbox.ChannelWebhook, r.Customers["repeated webhooks"] > 0)
		})
	}
}

// TestMutants: the campaign finds every broken merchant and names what is wrong.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a campaign takes most of a minute")
	}
	t.Parallel()
	if racing.On {
		t.Skip("SKIPPED: with the race detector few payments are made in a campaign; make test runs these without it")
	}
	rough := usual("sqlite")
	rough.Kill, rough.Silence, rough.Faults, rough.MaxRate = 900*time.Millisecond, 2*time.Second, 3*time.Second, 0.5
	rough.Pause, rough.Step, rough.Stop = 0, 0, 0
	several := usual("postgres")
	several.Kill, several.Pause, several.Restart, several.Step, several.Stop = time.Second, time.Second, 0, 0, 0
	forged := rough
	forged.Forged = 40
	half := rough
	half.Half = 40
	patient := usual("sqlite") // everything that it does wrong is made good before the end
	patient.Kill, patient.Stop, patient.Pause, patient.Patience = 0, 0, 0, slowPatience
	for _, m := range []struct {
		mutant  mutant
		profile profile
		seed    uint64
		length  time.Duration
		kind    wrong
	}{
		{outside, several, 11, 6 * time.Second, doubled},
		{doneAtEnd, several, 12, 6 * time.Second, doubled},
		{early, rough, 13, 6 * time.Second, lost},
		{forgetful, rough, 14, 4 * time.Second, doubled},
		{finalNo, forged, 15, 4 * time.Second, lost},
		{again, rough, 16, 6 * time.Second, unreported},
		{believer, rough, 17, 3 * time.Second, unverified},
		{generous, half, 18, 8 * time.Second, unverified},
		{traceless, rough, 19, 6 * time.Second, unreported},
		{hushing, rough, 20, 8 * time.Second, unreported},
		{careless, usual("sqlite"), 21, 6 * time.Second, unreported},
		{settler, usual("sqlite"), 22, 8 * time.Second, unreported},
		{deaf, rough, 23, 6 * time.Second, lost},
		{idle, usual("sqlite"), 24, 4 * time.Second, lost},
		{mixing, usual("sqlite"), 25, 4 * time.Second, unverified},
		{replaying, rough, 26, 8 * time.Second, unreported},
		{hasty, rough, 31, 10 * time.Second, unreported},
		{slow, patient, 32, 8 * time.Second, late},
		{timid, usual("sqlite"), 27, 4 * time.Second, falsePositive},
	} {
		t.Run(string(m.mutant), func(t *testing.T) {
			t.Parallel()
			m.profile.Mutant = m.mutant
			var r *result
			for length, tries := m.length, 0; tries < 3 && (r == nil || !r.has(m.kind)); length, tries = 2*length, tries+1 {
				r = run(t, m.seed, length, m.profile) // a machine with much else to do makes few payments: then longer
				t.Logf("%s, of %d: lost %d, doubled %d, unverified %d, unreported %d, late %d, false positives %d; %s", m.kind, r.Payments, r.Lost, r.Doubled, r.Unverified, r.Unreported, r.Late, r.FalsePositives, list(r.Did))
			}
			assert.Equal(t, "failed", r.Verdict)
			assert.True(t, r.has(m.kind), "%s is not what was found: %v", m.kind, r)
			assert.Contains(t, r.histories, "service: ", "a failure comes with the history")
		})
	}
}
