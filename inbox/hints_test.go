package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// truth is the service, and what it knows of one payment. Others do not exist.
type truth struct {
	inbox.Client
	id             uuid.UUID
	paid, complete bool
	lose           bool // the next answers
}

func (s *truth) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	known := id == s.id && s.paid
	s.complete = s.complete || known
	switch {
	case s.lose:
		return payments.Payment{}, payments.ErrAmbiguous
	case !known:
		return payments.Payment{}, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}
	}
	return paymentOf(id, record{"kim", "500"}), nil
}

// TestNoDoubtIsGivenUp: all that may happen to an id that a webhook names, in any order. Whatever
// does, a payment that is complete is in the ledger.
func TestNoDoubtIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			d := &doubts{t: t, truth: &truth{}}
			d.stand = newStand(t, pg, func(c *inbox.Config) { c.Client, c.MaxHints = d.truth, 1 })
			d.all(nil, racing.Size(4, 3), doubtful)
			d.all([]string{"webhook begins"}, racing.Size(5, 4), atOnce)
			t.Logf("%d histories, %d of them with a hint that is given up; %d webhooks turned away", d.histories, d.gone, d.turnedAway)
			require.Positive(t, d.gone, "what the service has refused")
			require.Positive(t, d.turnedAway, "what is in doubt takes up the room")
		})
	}
}

// doubts goes through histories.
type doubts struct {
	t     *testing.T
	stand *stand
	truth *truth

	histories, gone, turnedAway int
}

var (
	doubtful = []string{"paid", "webhook, lost", "webhook, answered", "asked, lost", "asked, answered", "given up"}
	// While a webhook's process waits for the answer to a confirm.
	atOnce = []string{"paid", "asked, answered", "webhook, answered", "given up", "killed", "refused"}
)

// all goes through all histories of a length that begin like this.
func (d *doubts) all(history []string, length int, next []string) {
	if len(history) == length {
		d.run(history)
		return
	}
	ended := slices.Contains(history, "killed") || slices.Contains(history, "refused")
	for _, what := range next {
		if len(history) > 0 && history[len(history)-1] == what && what != "given up" {
			continue // twice in a row is once
		}
		if ended && (what == "killed" || what == "refused") {
			continue // there is one that begins and does not end at once
		}
		d.all(append(history[:len(history):len(history)], what), length, next)
	}
}

func (d *doubts) run(history []string) {
	*d.truth = truth{id: uuid.New()}
	named := false
	for i, what := range history {
		d.do(what)
		named = named || strings.HasPrefix(what, "webhook")
		_, err := d.stand.box.Get(d.t.Context(), d.truth.id.String())
		gone := errors.Is(err, inbox.ErrNotFound)
		require.False(d.t, d.truth.complete && gone, "complete, and known to nobody after %v", history[:i+1])
		if i == len(history)-1 && gone && named {
			d.gone++
		}
	}
	d.histories++
	d.stand.do(`DELETE FROM depositpay_payments`)
}

func (d *doubts) do(what string) {
	ctx, box := context.Background(), d.stand.box
	note := func(id uuid.UUID) bool {
		err := box.Webhook().RecordHint(ctx, id)
		if err != nil { // the webhook is not confirmed, and comes again
			require.ErrorIs(d.t, err, webhook.ErrFull)
			d.turnedAway++
		}
		require.NoError(d.t, inbox.Fold(box))
		return err == nil
	}
	d.truth.lose = what == "webhook, lost" || what == "asked, lost" || what == "killed"
	switch what {
	case "paid":
		d.truth.paid = true
	case "webhook, lost", "webhook, answered":
		if !note(d.truth.id) {
			return
		}
		p, err := d.truth.Confirm(ctx, d.truth.id)
		if err == nil {
			require.NoError(d.t, box.Webhook().Accept(ctx, p))
		} else {
			require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, d.truth.id, err))
		}
		require.NoError(d.t, inbox.Fold(box))
	case "webhook begins":
		note(d.truth.id)
	case "killed": // its confirm was carried out
		_, _ = d.truth.Confirm(ctx, d.truth.id)
	case "refused": // its confirm was carried out first of all
		require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, d.truth.id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
		require.NoError(d.t, inbox.Fold(box))
	case "asked, lost", "asked, answered":
		d.stand.do(`UPDATE {p}payments SET run_at = 1 WHERE stage = {hint}`)
		require.NoError(d.t, inbox.ConfirmDue(box))
		require.NoError(d.t, inbox.Fold(box))
	case "given up": // for a stranger's id, if there is room for one
		if id := uuid.New(); note(id) {
			require.NoError(d.t, box.Webhook().ConfirmFailed(ctx, id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
		}
		require.NoError(d.t, inbox.Fold(box))
		require.NoError(d.t, inbox.EvictHints(box))
	}
}

// TestDoubtEnds: a doubt ends with a no to a confirm that began ten minutes after all others,
// also after those whose answer was lost, and with no other no.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	for _, pg := range []bool{false, true} {
		t.Run(fmt.Sprint("pg=", pg), func(t *testing.T) {
			t.Parallel()
			service := &truth{id: uuid.New()}
			s := newStand(t, pg, func(c *inbox.Config) { c.Client = service })
			id := uuid.New()
			ask := func(minutes int, lost bool) inbox.ConfirmState {
				t.Helper()
				s.do(`UPDATE depositpay_payments SET run_at = 1, asked_at = asked_at - $1`, int64(minutes)*60_000_000)
				service.lose = lost
				require.NoError(t, inbox.ConfirmDue(s.box))
				e := s.entry(id.String())
				return e.Confirm
			}
			note := func() inbox.ConfirmState {
				require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
				require.NoError(t, inbox.Fold(s.box))
				e := s.entry(id.String())
				return e.Confirm
			}
			require.Equal(t, inbox.ConfirmNamed, note())
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false), "that of the webhook may be under way")
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false))
			require.Equal(t, inbox.ConfirmRejected, ask(11, false))
			require.Equal(t, inbox.ConfirmUnknown, ask(11, true))
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false), "the lost one may be carried out")
			require.Equal(t, inbox.ConfirmUnknown, note())
			require.Equal(t, inbox.ConfirmUnknown, ask(9, false))
			require.Equal(t, inbox.ConfirmRejected, ask(11, false))
			require.Equal(t, inbox.ConfirmUnknown, ask(0, true))
			s.do(`UPDATE depositpay_payments SET asked_at = asked_at - 660000000`)
			require.Equal(t, inbox.ConfirmNamed, note(), "the webhook's own is the only one")
		})
	}
}

// TestNamedWhileGivenUp: a webhook names an id that the service has refused, at the moment at
// which another process gives it up. It is a hint afterwards.
func TestNamedWhileGivenUp(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	s.do(`UPDATE {p}payments SET confirm = {rejected}`)
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.box.Webhook().RecordHint(context.Background(), id) }()
	s.awaitLock("transactionid")
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	e := s.entry(id.String())
	require.Equal(t, inbox.StageHint, e.Stage)
	require.Equal(t, inbox.ConfirmNamed, e.Confirm)
}

// refused are ids that webhooks have named, and to whose confirms the service has said no.
func (s *stand) refused(n int) (ids []uuid.UUID) {
	s.t.Helper()
	for range n {
		ids = append(ids, uuid.New())
		require.NoError(s.t, s.box.Webhook().RecordHint(s.t.Context(), ids[len(ids)-1]))
		require.NoError(s.t, s.box.Webhook().ConfirmFailed(s.t.Context(), ids[len(ids)-1], &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
	}
	require.NoError(s.t, inbox.Fold(s.box))
	return ids
}

// TestTwoReplicasAtTheCap: two processes that are flooded while the service does not answer take
// as many new ids as there is room for, and no more than they have under way beyond it; none that was taken is given
// up. Once the service has said no there is room again.
func TestTwoReplicasAtTheCap(t *testing.T) {
	t.Parallel()
	const maxHints, callers, each = 20, 4, 20
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = maxHints })
	boxes := []*inbox.Inbox{s.box, s.open()}
	var mu sync.Mutex
	var taken []uuid.UUID
	var flood sync.WaitGroup
	for n := range callers * len(boxes) {
		flood.Go(func() {
			for range each {
				id := uuid.New()
				err := boxes[n%len(boxes)].Webhook().RecordHint(context.Background(), id)
				if err != nil {
					assert.ErrorIs(t, err, webhook.ErrFull)
					continue
				}
				mu.Lock()
				taken = append(taken, id)
				mu.Unlock()
			}
		})
	}
	flood.Wait()
	require.GreaterOrEqual(t, len(taken), maxHints)
	require.LessOrEqual(t, len(taken), maxHints+callers)
	for _, box := range boxes {
		require.NoError(t, inbox.EvictHints(box))
		require.NoError(t, box.Webhook().RecordHint(t.Context(), taken[0]), "it is not new")
		require.ErrorIs(t, box.Webhook().RecordHint(t.Context(), uuid.New()), webhook.ErrFull)
	}
	for _, id := range taken {
		e, err := boxes[1].Get(t.Context(), id.String())
		require.NoError(t, err)
		require.Equal(t, inbox.StageHint, e.Stage)
	}
	for _, id := range taken[1:] {
		require.NoError(t, boxes[1].Webhook().ConfirmFailed(t.Context(), id, &payments.Error{Op: "Confirm", Code: "NOT_PAID"}))
	}
	require.NoError(t, boxes[0].Webhook().RecordHint(t.Context(), uuid.New()))
	require.NoError(t, inbox.EvictHints(boxes[0]))
	status := s.status()
	require.Equal(t, int64(maxHints), status.Count[inbox.StageHint])
	_, err := s.box.Get(t.Context(), taken[0].String())
	require.NoError(t, err, "it was named twice, so it is in doubt")
}

// TestHintsUnderWayTakePlaces: of ten new ids that are noted at once three find a place, also
// while none is in the ledger yet.
func TestHintsUnderWayTakePlaces(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, func(c *inbox.Config) { c.MaxHints = 3 })
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`LOCK TABLE depositpay_payments IN SHARE MODE`) // all may count, and nobody may write
	require.NoError(t, err)
	ended := make(chan error, 10)
	for range cap(ended) {
		go func() { ended <- s.box.Webhook().RecordHint(context.Background(), uuid.New()) }()
	}
	for range cap(ended) - 3 {
		select {
		case err := <-ended:
			require.ErrorIs(t, err, webhook.ErrFull)
		case <-time.After(patience):
			require.Fail(t, "more than three have a place")
		}
	}
	require.NoError(t, other.Commit())
	for range 3 {
		require.NoError(t, <-ended)
	}
}

// TestFlood: anyone who posts random ids costs the configured rate of confirms and a bounded
// number of rows, and a real payment in the middle of it is granted while the flood goes on.
func TestFlood(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		ledger, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ledger.Close()) })
		testFlood(t, inbox.Config{SQLite: ledger}, books{t, ledger.Writer})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		testFlood(t, inbox.Config{DB: db.DB}, books{t, db.DB})
	})
}

func testFlood(t *testing.T, cfg inbox.Config, books books) {
	n := int64(100_000)
	if testing.Short() || racing.On {
		n = 10_000
	}
	const callers, hookRate, boxRate, maxHints = 64, 50, 5, 40
	cfg.ConfirmRate, cfg.MaxHints, cfg.ReconcileEvery = boxRate, maxHints, -1
	m := newMerchant(t, cfg, webhook.Config{ConfirmRate: hookRate}, mockserver.Config{MaxRequests: 1_000_000})
	real := m.create(1)
	_, err := m.box.Reconcile(t.Context()) // the one of the start is over, or has nothing to ask
	require.NoError(t, err)
	before := confirms(m)

	began := time.Now()
	var sent, most atomic.Int64
	var granted atomic.Bool
	var flood sync.WaitGroup
	answers := [callers]map[int]int{}
	for c := range callers {
		answers[c] = map[int]int{}
		flood.Go(func() {
			// It goes on until the real payment is granted: if it never is, until patience ends.
			for sent.Add(1) <= n || !granted.Load() && time.Since(began) < patience {
				answers[c][m.post(uuid.New())]++
			}
		})
	}
	require.Eventually(t, func() bool { return sent.Load() > n/3 }, 3*patience, time.Millisecond)
	m.deposit(real)
	deposited := time.Now()
	require.Equal(t, http.StatusOK, m.post(real), "a real one in the middle, named once")
	for books.effects(real) == 0 {
		require.Less(t, time.Since(deposited), patience, "not granted while the flood goes on")
		<-time.After(2 * time.Millisecond)
		most.Store(max(most.Load(), int64(books.hints())))
	}
	took, at := time.Since(deposited), sent.Load()
	granted.Store(true)
	flood.Wait()
	elapsed := time.Since(began)

	total := map[int]int{}
	for _, a := range answers {
		for code, count := range a {
			total[code] += count
		}
	}
	require.Empty(t, total[http.StatusOK])
	asked := confirms(m) - before
	limit := int(elapsed.Seconds()*(hookRate+boxRate)) + 2*hookRate + boxRate + 2
	t.Logf("%d ids in %v: %v; %d confirms, at most %d allowed; the real one granted after %v, at the %dth",
		sent.Load(), elapsed.Round(time.Millisecond), total, asked, limit, took.Round(time.Millisecond), at)
	require.Less(t, at, sent.Load(), "it was granted before the end")
	require.LessOrEqual(t, asked, limit)
	promised := 2 * time.Second
	if racing.On {
		promised = 10 * time.Second
	}
	require.Less(t, took, promised)
	require.Equal(t, 1, books.effects(real))
	require.Eventually(t, func() bool { return books.hints() <= maxHints }, patience, 20*time.Millisecond, "rows of strangers' ids")
	// Between two evictions come as many as the webhook lets through in a few seconds.
	require.LessOrEqual(t, most.Load(), int64(maxHints+2*hookRate+5*hookRate))
}

func confirms(m *merchant) (n int) {
	for _, r := range m.mock.Requests() {
		if r.Path == "/payments/confirm" {
			n++
		}
	}
	return n
}

func (b books) hints() int {
	return b.number(`SELECT count(*) FROM {p}payments WHERE stage = {hint}`)
}

// TestRefusedHintBecomesOwn: a webhook of a registered payment whose hint the service had
// rejected is noted.
func TestRefusedHintBecomesOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	require.NoError(t, s.box.Webhook().ConfirmFailed(t.Context(), id, &payments.Error{Op: "Confirm", Code: "NOT_PAID", Attempts: 1}))
	require.Equal(t, inbox.ConfirmRejected, s.confirmOf(id))
	require.NoError(t, s.box.Expect(t.Context(), id, orderOf("order-1")))
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	require.Equal(t, inbox.ConfirmNone, s.confirmOf(id))
}

// TestRegisteredWhileGivenUp: a payment is in the ledger after Expect, although another process
// evicts its hint at that moment.
func TestRegisteredWhileGivenUp(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id := uuid.New()
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(`DELETE FROM depositpay_payments`)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.box.Expect(context.Background(), id, orderOf("order-1")) }()
	s.awaitLock("transactionid")
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
	e := s.entry(id.String())
	require.Equal(t, inbox.StageExpected, e.Stage)
}
