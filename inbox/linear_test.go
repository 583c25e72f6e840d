package inbox_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestLinearizable: what many goroutines do to the same payments at once, on PostgreSQL
// through two inboxes, looks as if it had happened one after the other, each thing at
// some moment between its call and its return. Leases end at any moment.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			testLinearizable(t, pg)
		})
	}
}

const (
	linearWorkers  = 6
	linearWindow   = 3 // payments in work at a time
	linearPayments = 60
	linearEach     = 14 // things that each worker does to a window
)

func testLinearizable(t *testing.T, pg bool) {
	s := newStand(t, pg, func(c *inbox.Config) {
		c.Client, c.Handler, c.MaxAttempts = nobody{}, linearGrant, 1_000_000
		c.BackoffMin, c.BackoffMax = time.Nanosecond, time.Nanosecond
	})
	h := &history{t: t, s: s, boxes: []*inbox.Inbox{s.box}, began: time.Now(), differing: pg}
	if pg {
		h.boxes = append(h.boxes, s.open())
	}
	for i := range linearPayments {
		h.ids = append(h.ids, nthPayment(i).ID)
	}
	for first := 0; first < linearPayments; first += linearWindow {
		var workers sync.WaitGroup
		for n := range linearWorkers {
			workers.Go(func() {
				for range linearEach {
					h.something(n, h.ids[first+rand.IntN(linearWindow)])
				}
			})
		}
		workers.Wait()
		for _, id := range h.ids[first : first+linearWindow] {
			h.get(0, id) // what there is in the end
		}
	}
	h.check()
}

// history is what was done, with the times of call and return.
type history struct {
	t         *testing.T
	s         *stand
	boxes     []*inbox.Inbox
	ids       []uuid.UUID
	began     time.Time
	differing bool // records of one payment may differ; on SQLite what differs is effective a little later

	mu  sync.Mutex
	ops []porcupine.Operation
}

// done records an operation that has returned.
func (h *history) done(client int, call int64, in linearIn, out linearOut) {
	now := time.Since(h.began).Nanoseconds()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: now})
}

func (h *history) now() int64 { return time.Since(h.began).Nanoseconds() }

func (h *history) box() *inbox.Inbox { return h.boxes[rand.IntN(len(h.boxes))] }

// something is what a worker does.
func (h *history) something(client int, id uuid.UUID) {
	switch rand.IntN(10) {
	case 0, 1:
		h.accept(client, id)
	case 2:
		h.get(client, id)
	case 3:
		h.standing(client, id)
	case 4:
		h.decide(client, id, doesApprove)
	case 5:
		h.decide(client, id, doesRetry)
	case 6:
		_, err := h.s.ledger.Exec(`UPDATE depositpay_payments SET leased = 0 WHERE payment_id = '` + id.String() + `'`) // its lease ends
		h.require(err)
	default:
		h.handOver(client)
	}
}

// require is for goroutines.
func (h *history) require(err error) {
	if err != nil {
		h.t.Errorf("%v", err)
	}
}

func (h *history) accept(client int, id uuid.UUID) {
	rec := record{"kim", "500"}
	if h.differing && rand.IntN(2) == 0 || !h.differing && id[0]%2 == 0 {
		rec.amount = "0"
	}
	deliver := h.box().Webhook().Accept
	if rand.IntN(2) == 0 {
		deliver = h.box().Poller().Accept
	}
	call := h.now()
	h.require(deliver(context.Background(), paymentOf(id, rec)))
	h.done(client, call, linearIn{does: doesAccept, id: id.String(), paid: rec.amount != "0"}, linearOut{})
}

func (h *history) get(client int, id uuid.UUID) {
	box := h.box()
	call := h.now()
	e, err := box.Get(context.Background(), id.String())
	if errors.Is(err, inbox.ErrNotFound) {
		h.done(client, call, linearIn{does: doesGet, id: id.String()}, linearOut{})
		return
	}
	h.require(err)
	h.done(client, call, linearIn{does: doesGet, id: id.String()}, linearOut{known: true, stage: e.Stage, paid: e.Payment.PaidAmount.Sign() > 0})
}

func (h *history) standing(client int, id uuid.UUID) {
	box := h.box()
	call := h.now()
	standing, err := box.Webhook().State(context.Background(), id)
	h.require(err)
	h.done(client, call, linearIn{does: doesStanding, id: id.String()}, linearOut{known: standing == webhook.StateHandled})
}

func (h *history) decide(client int, id uuid.UUID, what does) {
	do := h.box().Approve
	if what == doesRetry {
		do = h.box().Retry
	}
	call := h.now()
	err := do(context.Background(), id.String(), byHand)
	if err != nil && !errors.Is(err, inbox.ErrStage) {
		h.require(err)
	}
	h.done(client, call, linearIn{does: what, id: id.String()}, linearOut{known: err == nil})
}

// handOver claims, dawdles, and hands over, if there is anything.
func (h *history) handOver(client int) {
	box := h.box()
	h.require(inbox.Fold(box))
	call := h.now()
	claims, err := inbox.ClaimSome(box, 1)
	h.require(err)
	for i := range claims {
		h.done(client, call, linearIn{does: doesClaim, id: claims[i].Key()}, linearOut{attempt: claims[i].Attempt()})
	}
	if rand.IntN(3) == 0 {
		<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond)
	}
	for i := range claims {
		call = h.now()
		ended, err := inbox.HandleOnce(box, &claims[i])
		h.require(err)
		h.done(client, call, linearIn{does: doesHandle, id: claims[i].Key(), attempt: claims[i].Attempt()}, linearOut{ended: ended})
	}
}

// check looks for an order of each payment's operations that explains their results.
func (h *history) check() {
	of := map[string][]porcupine.Operation{}
	handled := 0
	for _, o := range h.ops {
		in := o.Input.(linearIn)
		of[in.id] = append(of[in.id], o)
		if o.Output.(linearOut).ended == inbox.EndedDone {
			handled++
		}
	}
	books := books{h.t, h.s.ledger}
	for id, ops := range of {
		result := porcupine.CheckOperationsTimeout(linearModel, ops, 10*time.Second)
		require.Equal(h.t, porcupine.Ok, result, "the history of %s has no order that explains it:\n%s", id, story(ops))
		require.LessOrEqual(h.t, books.number(`SELECT count(*) FROM effects WHERE payment_id = '`+id+`'`), 1)
	}
	require.Equal(h.t, handled, books.number(`SELECT count(*) FROM effects`), "effects, and hand-overs that ended well")
	require.Positive(h.t, handled)
	h.t.Logf("%d operations on %d payments, %d handed over", len(h.ops), len(of), handled)
}

func story(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var s strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&s, "%9d to %9d µs: worker %d: %+v: %+v\n", o.Call/1000, o.Return/1000, o.ClientId, o.Input, o.Output)
	}
	return s.String()
}
