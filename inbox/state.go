package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/webhook"
)

// lookup is a query for one payment. Those that come at once are made in one statement: a
// flood of webhooks would otherwise be a flood of round trips.
type lookup struct {
	id    string
	stage Stage
	own   bool
}

// An own payment older than half of Config.OutstandingFor counts as unknown, so that its
// webhook is recorded before it is confirmed.
const sqlLookup = `SELECT payment_id, stage, CASE WHEN first_seen > {now} - ?2 THEN own ELSE 0 END FROM {p}payments WHERE payment_id IN ({list})`

// lookUp makes a group of lookups.
func (b *webhookLedger) lookUp(asked []*lookup) error {
	ids := make([]string, len(asked))
	for i, l := range asked {
		ids[i] = l.id
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	rows, err := queryRows(ctx, b.store.lookups(), b.d.sql(sqlLookup), scanLookup, string(text), (b.cfg.OutstandingFor / 2).Microseconds())
	if err != nil {
		return err
	}
	found := make(map[string]lookup, len(rows))
	for _, l := range rows {
		found[l.id] = l
	}
	for _, l := range asked {
		if f, ok := found[l.id]; ok {
			*l = f
		}
	}
	return nil
}

func scanLookup(rows *sql.Rows) (l lookup, err error) {
	var own int
	err = rows.Scan(&l.id, &l.stage, &own)
	l.own = own != 0
	return l, err
}

// State returns what the ledger knows of a payment. A payment whose record is durable is
// handled, however its hand-over ends. While the store is known to take nothing the state of
// any other id is an error, so that it is not confirmed.
func (b *webhookLedger) State(ctx context.Context, id uuid.UUID) (webhook.State, error) {
	waiting, held := b.store.unfolded(id)
	if held && waiting.Kind != opBind {
		return webhook.StateHandled, nil
	}
	state, known := b.states.get(id)
	if known && state == webhook.StateHandled {
		return state, nil
	}
	if err := b.mayConfirm(ctx); err != nil {
		return webhook.StateUnknown, fmt.Errorf("inbox: payment %s: %w", id, err)
	}
	if known {
		return state, nil
	}
	l := &lookup{id: id.String()}
	if err := b.lookups.do(ctx, l); err != nil {
		return webhook.StateUnknown, fmt.Errorf("inbox: payment %s: %w", id, err)
	}
	state = l.state()
	if held {
		state = max(state, webhook.StateExpected)
	}
	b.states.add(id, state)
	return state, nil
}

func (l *lookup) state() webhook.State {
	switch {
	case l.stage >= StageReady:
		return webhook.StateHandled
	case l.own:
		return webhook.StateExpected
	}
	return webhook.StateUnknown
}

// stateCache has the states that the ledger returned last, so that webhooks of ids that came
// recently, above all repeats, cost no query. It may be out of date in one direction only: a
// handled payment stays handled, and an expected one may be handled by another process by now,
// which costs one more confirm. See DESIGN I-14.
type stateCache struct {
	mu       sync.Mutex
	new, old map[uuid.UUID]known
}

// known has no pointer, so that the garbage collector skips the maps.
type known struct {
	state webhook.State
	at    time.Duration // since started
}

var started = time.Now()

// expectedFor is how long StateExpected is valid: it ends with Config.OutstandingFor.
const expectedFor = time.Hour

func (k known) valid() bool {
	return k.state == webhook.StateHandled || k.state == webhook.StateExpected && time.Since(started)-k.at < expectedFor
}

// statesKept bounds each of the two generations: a few MB in all.
const statesKept = 1 << 15

func (c *stateCache) get(id uuid.UUID) (webhook.State, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, found := c.new[id]
	if !found {
		k = c.old[id]
	}
	return k.state, k.valid()
}

// add adds a state. Unknown ids are not kept: anyone can make up any number of them.
func (c *stateCache) add(id uuid.UUID, state webhook.State) {
	if state == webhook.StateUnknown {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.new) >= statesKept {
		c.old, c.new = c.new, nil
	}
	if c.new == nil {
		c.new = make(map[uuid.UUID]known)
	}
	c.new[id] = known{max(state, c.new[id].state, c.old[id].state), time.Since(started)}
}
