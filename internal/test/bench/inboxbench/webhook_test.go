package inboxbench_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// deliveries are those of a round. All rounds' payments together are fewer than an inbox
// remembers.
const deliveries = 5000

// storeless is the receiver to compare with: it verifies, and keeps nothing.
type storeless struct{}

func (storeless) Handled(context.Context, uuid.UUID) (bool, error) { return false, nil }
func (storeless) Accept(context.Context, payments.Payment) error   { return nil }

// fresh hands out ids that nobody has delivered yet.
type fresh struct {
	ids  []uuid.UUID
	next atomic.Int64
}

func newFresh(n int) *fresh {
	f := &fresh{ids: make([]uuid.UUID, n)}
	for i := range f.ids {
		f.ids[i] = uuid.New()
	}
	return f
}

func (f *fresh) take() uuid.UUID { return f.ids[f.next.Add(1)-1] }

// expected registers every id as the merchant's own, long before it is paid: the
// registrations are in the ledger when it returns.
func (f *fresh) expected(t *testing.T, box *inbox.Inbox) *fresh {
	t.Helper()
	var next atomic.Int64
	paired.Calls(len(f.ids), callers, func() error {
		return box.Expect(t.Context(), f.ids[next.Add(1)-1], request())
	})(t)
	settle(t, box, inbox.StageExpected, len(f.ids))
	return f
}

// settle waits until n payments stand at stage in the ledger itself, as far as Status counts:
// on SQLite a reconciliation folds what waits in the intake file.
func settle(t *testing.T, box *inbox.Inbox, stage inbox.Stage, n int) {
	t.Helper()
	for have := int64(0); have < int64(min(n, inbox.CountLimit)); {
		_, err := box.Reconcile(t.Context())
		require.NoError(t, err)
		status, err := box.Status(t.Context())
		require.NoError(t, err)
		have = status.Count[stage]
	}
}

// delivered is a side: a whole delivery, with an id that was not delivered before.
func delivered(name string, r *receiver, ids *fresh) paired.Side {
	return paired.Side{Name: name, Round: paired.Calls(deliveries, callers, func() error { return r.deliver(ids.take()) })}
}

const everyRound = deliveries * (paired.Rounds + 1)

// TestWebhook: a whole delivery over HTTP, confirmed and durable, next to one that is
// confirmed and forgotten. Each is measured by itself against that, because what one
// inbox holds in memory would slow the others down.
func TestWebhook(t *testing.T) {
	paired.Enabled(t)
	for _, d := range databases {
		name := d.name + " webhook, 64 connections, confirmed: "
		against := func(what string, goal paired.Goal, side func(t *testing.T, client *payments.Client) paired.Side) {
			t.Run(d.name+"/"+what, func(t *testing.T) {
				client := newService(t)
				base := delivered("confirmed and forgotten", newReceiver(t, webhook.Config{Client: client, Sink: storeless{}}), newFresh(everyRound))
				got := paired.Compare(t, side(t, client), base)
				paired.Ratio(t, name+what+" ÷ storeless", got[0], got[1], paired.Rate, goal)
			})
		}
		against("own ids", paired.AtLeast(0.55), func(t *testing.T, client *payments.Client) paired.Side {
			box := openBox(t, d.open(t), nil)
			return settled(box, delivered("durable, own ids", newReceiver(t, webhook.Config{Client: client, Ledger: box.Webhook()}), newFresh(everyRound).expected(t, box)))
		})
		against("own ids, created elsewhere", paired.Goal{}, func(t *testing.T, client *payments.Client) paired.Side {
			db := d.open(t)
			elsewhere := openBox(t, db, nil)
			ids := newFresh(everyRound).expected(t, elsewhere)
			require.NoError(t, elsewhere.Close())
			box := openBox(t, db, func(c *inbox.Config) { c.OutstandingFor = time.Hour })
			return delivered("durable, own ids, looked up", newReceiver(t, webhook.Config{Client: client, Ledger: box.Webhook()}), ids)
		})
		against("unknown ids", paired.Goal{}, func(t *testing.T, client *payments.Client) paired.Side {
			box := openBox(t, d.open(t), nil)
			return settled(box, delivered("durable, unknown ids", newReceiver(t, webhook.Config{Client: client, Ledger: box.Webhook()}), newFresh(everyRound)))
		})
		against("own ids, handlers running", paired.Goal{}, func(t *testing.T, client *payments.Client) paired.Side {
			db, grants := d.open(t), newEmpty()
			box := openBox(t, db, func(c *inbox.Config) { c.Handler = grants.handle })
			side := delivered("durable, own ids, handlers running", newReceiver(t, webhook.Config{Client: client, Ledger: box.Webhook()}), newFresh(everyRound).expected(t, box))
			var stop func()
			side.Before = func(t *testing.T) {
				grants.expect(deliveries)
				stop = running(t, box)
			}
			side.After = func(t *testing.T) { // or it would go on next to the other side
				grants.await(t, db)
				stop()
			}
			return side
		})
	}
}

// settled is side, whose payments are in the ledger when the other side is measured: no
// handler runs in it, and the intake file takes only so much.
func settled(box *inbox.Inbox, side paired.Side) paired.Side {
	rounds := 0
	side.After = func(t *testing.T) {
		rounds++
		settle(t, box, inbox.StageReady, rounds*deliveries)
	}
	return side
}

// known is a receiver without a store that remembers what it has seen.
type known map[uuid.UUID]bool

func (k known) Handled(_ context.Context, id uuid.UUID) (bool, error) { return k[id], nil }
func (known) Accept(context.Context, payments.Payment) error          { return nil }

// TestRepeats: a flood of deliveries of payments that are done.
func TestRepeats(t *testing.T) {
	paired.Enabled(t)
	const paid, flood = 1000, 30_000
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			client, db, grants := newService(t), d.open(t), newEmpty()
			box := openBox(t, db, func(c *inbox.Config) { c.Handler = grants.handle })
			ids, seen := newFresh(paid), known{}
			for _, id := range ids.ids {
				seen[id] = true
			}
			paired.Calls(paid, callers, func() error { return box.Webhook().Accept(t.Context(), record(ids.take())) })(t)
			grants.drain(t, db, box, paid)
			repeat := func(name string, cfg webhook.Config) paired.Side {
				r := newReceiver(t, cfg)
				var i atomic.Int64
				return paired.Side{Name: name, Round: paired.Calls(flood, callers, func() error {
					return r.deliver(ids.ids[i.Add(1)%paid])
				})}
			}
			got := paired.Compare(t, repeat("repeats, from the ledger", webhook.Config{Client: client, Ledger: box.Webhook()}),
				repeat("repeats, from a map", webhook.Config{Client: client, Sink: seen}))
			paired.Ratio(t, d.name+" webhook, 64 connections, repeats: ledger ÷ map", got[0], got[1], paired.Rate, paired.AtLeast(0.75))
		})
	}
}
