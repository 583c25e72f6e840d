//go:build unix

package torture

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgwire"
	"github.com/depositpay/depositpay-go/mockserver"
)

// troubled runs the plan.
func (c *campaign) troubled() {
	ctx, cancel := context.WithTimeout(c.t.Context(), c.length)
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	for _, events := range c.plan {
		all.Go(func() {
			for _, e := range events {
				select {
				case <-time.After(time.Until(began.Add(e.At))):
					c.cause(e)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Go(func() { c.customers.run(ctx) })
	all.Wait()
	c.sound()
}

// cause carries out one event and returns when it is over.
func (c *campaign) cause(e event) {
	count := true
	switch e.Kind {
	case killed:
		c.check(c.merchants[e.Merchant].again(syscall.SIGKILL))
	case stopped:
		c.check(c.merchants[e.Merchant].again(syscall.SIGTERM))
	case paused:
		count = c.merchants[e.Merchant].pause(e.For)
	case restarted:
		gone := span{from: time.Now()}
		c.check(c.cluster.Stop("immediate"))
		<-time.After(e.For)
		c.check(c.cluster.Start())
		gone.to = time.Now()
		c.mu.Lock()
		c.away = append(c.away, gone)
		c.mu.Unlock()
	case stepped:
		c.service.step(e.For)
	case silence:
		c.check(c.service.SetWebhook(c.service.Token(), ""))
		<-time.After(e.For)
		c.check(c.service.SetWebhook(c.service.Token(), hookURL))
	case cutOff, stalled:
		count = c.wires.strike(e.Message, e.Action)
	case faulty:
		c.check(c.service.trouble(e.Faults))
	}
	if count {
		c.mu.Lock()
		c.did[e.Kind]++
		c.mu.Unlock()
	}
}

// unaided waits until running merchants have handled every payment they know of, without a
// restart or other outside help. On PostgreSQL a dead poller's responses are recovered after
// two minutes, which is too long for this phase; calm covers them.
func (c *campaign) unaided() {
	if c.profile.Mutant != "" && c.profile.Mutant != idle {
		return
	}
	c.check(c.service.trouble(mockserver.Faults{}))
	patience := 2*time.Minute + c.length/2 // a long campaign leaves more ids to ask for
	if c.profile.Mutant != "" {
		patience = 5 * time.Second
	}
	for end := time.Now().Add(patience); ; {
		c.sound()
		began := time.Now()
		if c.neglected = neglected(c.read(), c.service.Payments(), c.told.by); len(c.neglected) == 0 || began.After(end) {
			return
		}
		<-time.After(time.Since(began) + 100*time.Millisecond)
	}
}

// neglected returns the paid payments that the merchants know of or should know of, and do
// not work on.
func neglected(l ledgers, service []mockserver.Payment, told func(id string) string) (all []finding) {
	for _, p := range service {
		if p.Status != mockserver.StatusComplete && p.Status != mockserver.StatusProgress {
			continue
		}
		r, held := l.payments[p.ID]
		if held && r.stage <= inbox.StageReady || !held && told(p.ID) != "" {
			all = append(all, finding{Kind: lost, ID: p.ID, Why: "paid, and known: merchants who go on see to it only when they begin again"})
		}
	}
	return all
}

// calm ends all faults and restarts the merchants cleanly. Leases, retry times and the
// heartbeats of dead pollers are moved back by three minutes, so that nothing waits for the
// clock.
func (c *campaign) calm() {
	c.check(c.service.trouble(mockserver.Faults{}))
	for _, m := range c.merchants {
		if err := m.stop(); err != nil {
			c.fail("a clean stop: " + err.Error())
		}
	}
	const passed = 3 * time.Minute
	c.alone(func(db *sql.DB) {
		c.do(db, fmt.Sprintf(`UPDATE depositpay_payments SET leased = leased - %[1]d, run_at = run_at - %[1]d WHERE stage = 2`, passed.Microseconds()),
			fmt.Sprintf(`UPDATE depositpay_polls SET beat_at = beat_at - %d WHERE closed_at IS NULL AND outcome = ''`, passed.Microseconds()))
	})
	for _, m := range c.merchants {
		m.cfg.Calm = true
		require.NoError(c.t, m.start())
	}
	c.awaitReady()
	c.customers.payWithout(true)
	c.settle()
}

// openReader opens SQLite's ledger for reading while the merchant writes.
func (c *campaign) openReader() {
	var err error
	c.ledger, err = sql.Open("sqlite", "file:"+c.path+"?mode=ro&_pragma=busy_timeout(5000)")
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, c.ledger.Close()) })
}

// wires cuts and stalls the merchants' connections to PostgreSQL.
type wires struct {
	mu      sync.Mutex
	strikes []*strike
	struck  []span // when, for those that may be blamed on it
}

// strike is a fault for one of the next messages.
type strike struct {
	left   int // messages until it is the one
	action pgwire.Action
	done   chan struct{}
}

func (w *wires) hook(pgwire.Message) pgwire.Action {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.strikes) == 0 {
		return pgwire.Pass
	}
	next := w.strikes[0]
	if next.left--; next.left > 0 {
		return pgwire.Pass
	}
	w.strikes = w.strikes[1:]
	now := time.Now()
	w.struck = append(w.struck, span{now, now.Add(stuck(next.action))})
	close(next.done)
	return next.action
}

// stuck returns how long a strike may affect a merchant. After a stall that is the longest
// of the merchant's own timeouts.
func stuck(a pgwire.Action) time.Duration {
	if a == pgwire.Stall {
		return 30 * time.Second
	}
	return time.Second
}

// strike hits the n-th message from now on and reports whether it came in time.
func (w *wires) strike(n int, action pgwire.Action) bool {
	s := &strike{left: n, action: action, done: make(chan struct{})}
	w.mu.Lock()
	w.strikes = append(w.strikes, s)
	w.mu.Unlock()
	select {
	case <-s.done:
		return true
	case <-time.After(5 * time.Second): // the database may be away
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.strikes, s)
	if i >= 0 {
		w.strikes = slices.Delete(w.strikes, i, i+1)
	}
	return i < 0
}

// wereStruck reports whether a connection was hit in that period.
func (w *wires) wereStruck(in span) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.struck, in.overlaps)
}
