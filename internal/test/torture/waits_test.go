//go:build unix

package torture

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// longest is how long a paid payment with a known id may wait while the database is
// available. All that a campaign does to merchants ends far sooner: leases last 1.5 s (20 s
// at most where the server must detect a process stuck in a transaction), pauses 3 s,
// backoffs 15 s, and reconciliations run every 10 to 13 s. Not counted: a response that only
// the poll journal of a killed process holds, whose id is unknown until that process has
// been silent for two minutes.
const longest = time.Minute

// waits are the paid payments that are not handled yet, with their waiting times.
type waits struct {
	mu    sync.Mutex
	until time.Time // what is counted until now
	of    map[string]time.Duration
	most  time.Duration
	late  []finding
}

// paid is called for each payment that a customer has paid.
func (w *waits) paid(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of != nil {
		w.of[id] = 0
	}
}

// watch counts until ctx ends.
func (c *campaign) watch(ctx context.Context) {
	c.waits.mu.Lock()
	c.waits.until, c.waits.of = time.Now(), map[string]time.Duration{}
	c.waits.mu.Unlock()
	often := time.NewTicker(c.profile.patience() / 60)
	defer often.Stop()
	for {
		select {
		case <-often.C:
			c.countWaits(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// countWaits adds the time since the last call to each waiting payment if the database was
// available. A failed read means that it was not.
func (c *campaign) countWaits(ctx context.Context) {
	w := &c.waits
	w.mu.Lock()
	ids := slices.Collect(maps.Keys(w.of))
	since := w.until
	w.until = time.Now()
	passed := span{since, w.until}
	w.mu.Unlock()
	stages, err := c.stagesOf(ctx, ids)
	there := err == nil && !c.wasAway(passed)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		stage, held := stages[id]
		switch {
		case held && stage > inbox.StageReady:
			delete(w.of, id)
		case !there:
		case !held && c.told.by(id) == "":
			w.of[id] = 0 // nobody can know it
		default:
			w.add(id, passed.length(), c.profile.patience(), fmt.Sprint(stage, ", held ", held))
		}
	}
}

func (w *waits) add(id string, passed, limit time.Duration, how string) {
	w.of[id] += passed
	w.most = max(w.most, w.of[id])
	if w.of[id] > limit {
		delete(w.of, id)
		w.late = append(w.late, finding{Kind: late, ID: id, at: time.Now(),
			Why: fmt.Sprintf("paid, and known, and it has waited longer than %v while the database was there (%s)", limit, how)})
	}
}

// stagesOf reads the stages of payments.
func (c *campaign) stagesOf(ctx context.Context, ids []string) (map[string]inbox.Stage, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stages := map[string]inbox.Stage{}
	for some := range slices.Chunk(ids, 500) {
		rows, err := c.ledger.QueryContext(ctx, `SELECT payment_id, stage FROM depositpay_payments WHERE payment_id IN ('`+strings.Join(some, "', '")+`')`)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id string
			var stage inbox.Stage
			if err := rows.Scan(&id, &stage); err != nil {
				_ = rows.Close()
				return nil, err
			}
			stages[id] = stage
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return stages, nil
}

// tooLate returns the payments that have waited too long so far, and the longest wait.
func (w *waits) tooLate() ([]finding, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.late), w.most
}
