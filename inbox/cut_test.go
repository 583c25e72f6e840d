package inbox_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/pgwire"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

// where a statement is cut.
type cutAt string

const (
	cutBefore  cutAt = "before"  // the server never sees it
	cutUnheard cutAt = "unheard" // it is carried out, and nothing of the answer arrives
	cutTorn    cutAt = "torn"    // it is carried out, and its rows arrive without the end of the answer
)

// nameIn is the statement's name without what is of one life alone.
func nameIn(m pgwire.Message, prefix string) string {
	return anyID.ReplaceAllString(strings.ReplaceAll(m.Name(), prefix, ""), "ID")
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// cut is of one statement: the first execution that fits is cut.
type cut struct {
	statement string // without the prefix of the tables
	at        cutAt
	tells     bool // only an execution that touches rows counts
	done      bool
}

func (c *cut) fits(m pgwire.Message, name string) bool {
	if c.done || name != c.statement {
		return false
	}
	switch c.at {
	case cutBefore:
		return m.Kind == "Execute" || m.Kind == "Query"
	case cutUnheard:
		return m.From == pgwire.Server && c.touches(m)
	case cutTorn:
		return m.Kind == "CommandComplete" && c.touches(m)
	}
	return false
}

func (c *cut) touches(m pgwire.Message) bool { return !c.tells || m.Rows > 0 || m.Affected() > 0 }

// cuts are those of one life.
type cuts struct {
	prefix string
	mu     sync.Mutex
	all    []*cut
}

func (c *cuts) hook(m pgwire.Message) pgwire.Action {
	if m.Nth == 0 {
		return pgwire.Pass
	}
	name := nameIn(m, c.prefix)
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.all, func(one *cut) bool { return one.fits(m, name) })
	if i < 0 {
		return pgwire.Pass
	}
	c.all[i].done = true
	return pgwire.CutBefore
}

// missed are the statements that the life did not come to.
func (c *cuts) missed() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if !one.done {
			names = append(names, one.statement)
		}
	}
	return names
}

// seen is a statement that a life ran.
type seen struct {
	statement string
	rows      bool // it returned some
	touched   bool // it returned or changed some
}

// recording is what a life ran, in order.
type recording struct {
	prefix string
	mu     sync.Mutex
	all    []*seen
}

func (r *recording) hook(m pgwire.Message) pgwire.Action {
	if m.Kind != "CommandComplete" || m.Nth == 0 {
		return pgwire.Pass
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := nameIn(m, r.prefix)
	i := slices.IndexFunc(r.all, func(s *seen) bool { return s.statement == name })
	if i < 0 {
		i = len(r.all)
		r.all = append(r.all, &seen{statement: name})
	}
	s := r.all[i]
	s.rows = s.rows || m.Rows > 0
	s.touched = s.touched || m.Rows > 0 || m.Affected() > 0
	return pgwire.Pass
}

// liveThrough is a life whose pool goes through a proxy with the hook.
func liveThrough(t *testing.T, db *pgtest.Database, prefix string, inOrder bool, hook func(pgwire.Message) pgwire.Action) {
	t.Helper()
	proxy, err := pgwire.New(db.DSN, hook)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	pool, err := sql.Open("pgx", proxy.DSN())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	pool.SetMaxOpenConns(10)
	newLife(t, prefix, db.DB, pool, inOrder).live()
}

// livesOfCuts is how many lives share the statements that are cut alike. Neighbors are in
// different ones: what is cut again at each step of its way is put off for longer and longer.
func livesOfCuts() int { return racing.Size(6, 2) }

// TestCuts: wherever the connection of a statement is cut, nothing is lost, granted twice or
// silent, hand-over goes on and Run ends. The statements are those that the inbox runs in a
// life without cuts, so a new one is here without being listed.
func TestCuts(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	number := 0
	prefixed := func() string {
		number++
		return fmt.Sprintf("life%d_", number)
	}
	// Lives wait more than they work, so more of them run at once than -parallel says.
	atOnce := make(chan struct{}, 12)
	var running sync.WaitGroup
	defer running.Wait()
	var known []string
	for _, inOrder := range []bool{false, true} {
		heard := &recording{prefix: prefixed()}
		liveThrough(t, db, heard.prefix, inOrder, heard.hook)
		fresh := slices.DeleteFunc(heard.all, func(s *seen) bool { return slices.Contains(known, s.statement) })
		lives := min(livesOfCuts(), len(fresh))
		for _, at := range []cutAt{cutBefore, cutUnheard, cutTorn} {
			for n := range lives {
				c := &cuts{prefix: prefixed()}
				for i := n; i < len(fresh); i += lives {
					if s := fresh[i]; at != cutTorn || s.rows {
						c.all = append(c.all, &cut{statement: s.statement, at: at, tells: s.touched})
					}
				}
				running.Go(func() {
					atOnce <- struct{}{}
					defer func() { <-atOnce }()
					t.Run(fmt.Sprintf("SerializeByIdentifier=%t/%s/%d", inOrder, at, n), func(t *testing.T) {
						for _, one := range c.all {
							t.Logf("cut %s: %s", at, one.statement)
						}
						liveThrough(t, db, c.prefix, inOrder, c.hook)
						assert.Empty(t, c.missed(), "this life did not come to them")
					})
				})
			}
		}
		for _, s := range fresh {
			known = append(known, s.statement)
		}
	}
	t.Logf("%d statements", len(known))
}

// TestStalls: a connection that goes silent without an end holds up what waits for it for a
// while, and not for ever: hand-over goes on, and Run ends.
func TestStalls(t *testing.T) {
	t.Parallel()
	if racing.On {
		t.Skip("SKIPPED: with the race detector it would only wait as long; make test runs it without it")
	}
	db := pgtest.New(t)
	var running sync.WaitGroup
	defer running.Wait()
	for name, part := range map[string]string{
		"claim": "attempt, tries, approved", "confirms": "attempt, tries, stage", "unpaid": "SET run_at = $3", "outstanding": "own = 1 AND first_seen",
		"alive": "polls WHERE poll_id = $1 AND closed_at IS NULL AND outcome = ''",
	} {
		running.Go(func() {
			t.Run(name, func(t *testing.T) {
				var stalled atomic.Bool
				liveThrough(t, db, name+"_", false, func(m pgwire.Message) pgwire.Action {
					if m.Kind == "Execute" && strings.Contains(m.Statement, part) && stalled.CompareAndSwap(false, true) {
						return pgwire.Stall
					}
					return pgwire.Pass
				})
				assert.True(t, stalled.Load(), "this life did not come to the statement")
			})
		})
	}
}
