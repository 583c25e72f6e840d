//go:build unix

package torture

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHistories: each finding comes with what both sides have, also that of a poll which
// took no payment.
func TestHistories(t *testing.T) {
	t.Parallel()
	c := &campaign{t: t, seed: 7, profile: usual("sqlite")}
	var err error
	c.service, err = newService(nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.service.Close()) })
	p := seller(t, c.service)()
	c.prepare()
	then := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	c.alone(func(db *sql.DB) {
		c.do(db, `INSERT INTO depositpay_polls (poll_id, opened_at, beat_at, outcome) VALUES ('k', 0, 1767323045006000, 'ambiguous: EOF')`)
	})
	c.openReader()

	told := c.histories([]finding{{Kind: hushed, Why: "quiet", at: then, poll: &poll{n: 3, at: then, fault: "drop-before"}}, {Kind: lost, ID: p.ID, Why: "gone"}})
	assert.Contains(t, told, "silent: of no payment: quiet (seed 7)\n"+
		"    service: poll 3 at 03:04:05.006 (fault \"drop-before\")\n"+
		"    poll journal: k opened 00:00:00.000, beat 03:04:05.006, ambiguous: EOF\n")
	assert.Contains(t, told, "lost: payment "+p.ID+": gone (seed 7)\n    service: CREATED, identifier \""+p.Identifier+"\"")
}
