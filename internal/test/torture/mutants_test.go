//go:build unix

package torture

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/depositpay/depositpay-go/internal/test/racing"
)

// TestMutants: the campaign finds out each merchant that does it wrong, and says how.
func TestMutants(t *testing.T) {
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
		{again, rough, 16, 6 * time.Second, hushed},
		{believer, rough, 17, 3 * time.Second, unverified},
		{generous, half, 18, 8 * time.Second, unverified},
		{traceless, rough, 19, 6 * time.Second, hushed},
		{hushing, rough, 20, 8 * time.Second, hushed},
		{careless, usual("sqlite"), 21, 6 * time.Second, hushed},
		{settler, usual("sqlite"), 22, 8 * time.Second, hushed},
		{deaf, rough, 23, 6 * time.Second, lost},
		{idle, usual("sqlite"), 24, 4 * time.Second, lost},
		{mixing, usual("sqlite"), 25, 4 * time.Second, unverified},
		{replaying, rough, 26, 8 * time.Second, hushed},
		{hasty, rough, 31, 10 * time.Second, hushed},
		{slow, patient, 32, 8 * time.Second, late},
		{timid, usual("sqlite"), 27, 4 * time.Second, wolf},
	} {
		t.Run(string(m.mutant), func(t *testing.T) {
			t.Parallel()
			m.profile.Mutant = m.mutant
			var r *result
			for length, tries := m.length, 0; tries < 3 && (r == nil || !r.has(m.kind)); length, tries = 2*length, tries+1 {
				r = run(t, m.seed, length, m.profile) // a machine with much else to do makes few payments: then longer
				t.Logf("%s, of %d: lost %d, doubled %d, unverified %d, silent %d, late %d, groundless %d; %s", m.kind, r.Payments, r.Lost, r.Doubled, r.Unverified, r.Silent, r.Late, r.Groundless, list(r.Did))
			}
			assert.Equal(t, "failed", r.Verdict)
			assert.True(t, r.has(m.kind), "%s is not what was found: %v", m.kind, r)
			assert.Contains(t, r.histories, "service: ", "a failure comes with the history")
		})
	}
}
