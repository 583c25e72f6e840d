package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// life is all that can happen to a merchant's inbox, in a few seconds: it runs every
// statement that the inbox has for PostgreSQL. Its connections may be cut anywhere, so
// whatever it calls is called again after an error, as callers do.
type life struct {
	t       *testing.T
	prefix  string
	direct  *sql.DB // the same database, without cuts
	pool    *sql.DB
	inOrder bool

	mock   *mockserver.Server
	client *payments.Client
	box    *inbox.Inbox
	hook   *webhook.Handler

	mu      sync.Mutex
	runs    map[string]int // of the handler, by identifier
	granted []uuid.UUID    // must be, once
}

// cutLease is the lease of the table test. Hand-over is to go on within this and a second.
const cutLease = time.Second

// goesOn bounds each wait of a life. It is far beyond the lease and a second, because the
// machine may be slow, and below what would help without being meant to: the lease of
// a confirm (a minute) and the next reconciliation (15 minutes).
const goesOn = 50 * time.Second

func newLife(t *testing.T, prefix string, direct, pool *sql.DB, inOrder bool) *life {
	t.Helper()
	l := &life{t: t, prefix: prefix, direct: direct, pool: pool, inOrder: inOrder, runs: map[string]int{}}
	var err error
	l.mock, err = mockserver.New(mockserver.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.mock.Close() })
	l.client, err = payments.New(payments.Config{BaseURL: l.mock.URL(), Token: l.mock.Token(), Transport: l.mock.Transport(), MaxRetries: -1})
	require.NoError(t, err)
	_, err = direct.ExecContext(t.Context(), `CREATE TABLE `+prefix+`effects (payment_id text NOT NULL)`)
	require.NoError(t, err)
	return l
}

// live is the whole life.
func (l *life) live() {
	l.open()
	l.mustGrant(l.deadPoller())
	l.byWebhook() // so that more wait for the first claim than it may take
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.box.Run(ctx) }()
	defer cancel() // also if the test fails
	// The first reconciliation asks for all that is outstanding, and takes what is for others.
	l.await("the first reconciliation", func() bool { return l.number(`SELECT count(*) FROM {p}meta WHERE name = 'report'`) > 0 })

	l.byPoll()
	l.createdOddly()
	l.handlers()
	l.strangers()
	l.losses()
	l.hints()
	l.reconcile()
	l.look()

	cancel()
	select {
	case err := <-ended:
		require.NoError(l.t, err)
	case <-time.After(goesOn):
		require.Fail(l.t, "Run does not end when its context has ended")
	}
	l.close(l.box)
	// database/sql ends a transaction whose context has ended in a goroutine of its own.
	l.await("that all connections are given back", func() bool { return l.pool.Stats().InUse == 0 })
	l.afterwards()
}

func (l *life) config(db *sql.DB) inbox.Config {
	return inbox.WithLease(inbox.Config{
		DB: db, TablePrefix: l.prefix, Client: oddClient{l.client}, Handler: l.handle, SerializeByIdentifier: l.inOrder, Concurrency: 1,
		BackoffMin: time.Millisecond, BackoffMax: 50 * time.Millisecond, MaxHints: 2, KeepBodies: time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	}, cutLease)
}

func (l *life) open() {
	l.t.Helper()
	l.insist("Open", func() (err error) {
		l.box, err = inbox.Open(l.t.Context(), l.config(l.pool))
		return err
	})
	var err error
	l.hook, err = webhook.New(webhook.Config{Client: l.client, Ledger: l.box.Webhook(), Logger: slog.New(slog.DiscardHandler), RefusedInterval: -1})
	require.NoError(l.t, err)
}

func (l *life) close(box *inbox.Inbox) {
	l.t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- box.Close() }()
	select {
	case err := <-closed:
		require.NoError(l.t, err)
	case <-time.After(goesOn):
		require.Fail(l.t, "Close does not return")
	}
}

// insist calls until there is no error. A decision that was committed without its caller
// hearing of it does not fit the stage any more.
func (l *life) insist(what string, call func() error) {
	l.t.Helper()
	var err error
	for end := time.Now().Add(goesOn); time.Now().Before(end); {
		before := err
		if err = call(); err == nil || before != nil && errors.Is(err, inbox.ErrStage) {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	require.NoError(l.t, err, what)
}

func (l *life) await(what string, ok func() bool) {
	l.t.Helper()
	for end := time.Now().Add(goesOn); !ok(); {
		require.True(l.t, time.Now().Before(end), "%s does not happen within %v", what, goesOn)
		<-time.After(5 * time.Millisecond)
	}
}

// handle writes one effect. What else it does, the identifier tells.
func (l *life) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	l.mu.Lock()
	l.runs[p.Identifier]++
	first := l.runs[p.Identifier] == 1
	l.mu.Unlock()
	if _, err := tx.ExecContext(ctx, `INSERT INTO `+l.prefix+`effects (payment_id) VALUES ($1)`, p.ID.String()); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(p.Identifier, "fails") && first:
		return errors.New("no stock")
	case strings.HasPrefix(p.Identifier, "snoozes") && first:
		return inbox.Snooze(time.Millisecond)
	case strings.HasPrefix(p.Identifier, "cancels"):
		// The result of a run may not be written down, and then another run is right.
		if l.stage(p.ID) == inbox.StageReady && l.decisions(p.ID) == 0 {
			return inbox.Cancel(errors.New("no such player"))
		}
	}
	return nil
}

// stage is where a payment stands, by the ledger itself; -1 if it is not there.
func (l *life) stage(id uuid.UUID) inbox.Stage {
	var stage inbox.Stage
	err := l.direct.QueryRowContext(context.Background(), `SELECT stage FROM `+l.prefix+`payments WHERE payment_id = $1`, id.String()).Scan(&stage)
	if err != nil {
		return -1
	}
	return stage
}

func (l *life) number(query string, args ...any) (n int) {
	l.t.Helper()
	require.NoError(l.t, l.direct.QueryRowContext(context.Background(), inbox.SQL(strings.ReplaceAll(query, "{p}", l.prefix)), args...).Scan(&n))
	return n
}

func (l *life) decisions(id uuid.UUID) int {
	return l.number(`SELECT count(*) FROM {p}audit WHERE payment_id = $1`, id.String())
}

func (l *life) effects(id uuid.UUID) int {
	return l.number(`SELECT count(*) FROM {p}effects WHERE payment_id = $1`, id.String())
}

func (l *life) mustGrant(ids ...uuid.UUID) { l.granted = append(l.granted, ids...) }

func (l *life) awaitGranted() {
	l.t.Helper()
	for _, id := range l.granted {
		l.await("the hand-over", func() bool { return l.stage(id) == inbox.StageDone })
	}
}

func sword(identifier string) payments.CreateRequest {
	return payments.CreateRequest{Title: "Sword", Identifier: identifier, Amount: payments.NewAmount(1000)}
}

// order creates a payment of the merchant's own. After an error the customer orders again.
func (l *life) order(identifier string) uuid.UUID {
	l.t.Helper()
	var created payments.Created
	n := 0
	l.insist("Create", func() (err error) {
		n++
		created, err = l.box.Create(l.t.Context(), sword(fmt.Sprint(identifier, "-", n)))
		return err
	})
	return created.PayToken
}

// elsewhere creates a payment that the inbox knows nothing of.
func (l *life) elsewhere(identifier string) uuid.UUID {
	l.t.Helper()
	created, err := l.client.Create(l.t.Context(), sword(identifier))
	require.NoError(l.t, err)
	return created.PayToken
}

func (l *life) pay(ids ...uuid.UUID) {
	l.t.Helper()
	for _, id := range ids {
		_, err := l.mock.Deposit(id.String(), mockserver.Deposit{})
		require.NoError(l.t, err)
	}
}

// post sends a webhook and returns the status of the answer.
func (l *life) post(id uuid.UUID) int {
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(`{"payment_id":"`+id.String()+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	l.hook.ServeHTTP(w, r)
	return w.Code
}

// deliver sends the webhook of a paid payment as the service does: until the answer is 200
// or the payment is complete, and never again then.
func (l *life) deliver(id uuid.UUID) {
	l.t.Helper()
	l.await("the acceptance of a webhook", func() bool {
		p, ok := l.mock.Payment(id.String())
		require.True(l.t, ok)
		return p.Status == mockserver.StatusComplete || l.post(id) == http.StatusOK
	})
}

// deadPoller is a process that was killed in the middle of polling.
func (l *life) deadPoller() uuid.UUID {
	l.t.Helper()
	id := l.order("dead-poller")
	l.pay(id)
	dead, err := inbox.Open(l.t.Context(), l.config(l.direct))
	require.NoError(l.t, err)
	ctx, err := dead.Poller().Begin().BeforePoll(l.t.Context())
	require.NoError(l.t, err)
	_, err = l.client.Next(ctx)
	require.NoError(l.t, err)
	l.close(dead)
	_, err = l.direct.ExecContext(l.t.Context(), `UPDATE `+l.prefix+`polls SET beat_at = 1`)
	require.NoError(l.t, err)
	return id
}

// byWebhook: own payments, each named twice.
func (l *life) byWebhook() {
	l.t.Helper()
	var id uuid.UUID
	for range 4 {
		id = l.order("webhook")
		l.pay(id)
		l.deliver(id)
		l.post(id)
		l.mustGrant(id)
	}
	p := payments.Payment{ID: id, Identifier: "webhook-1", Status: payments.StatusComplete, Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(1000)}
	l.insist("Accept", func() error { return l.box.Webhook().Accept(l.t.Context(), p) })
	noID := p
	noID.ID = uuid.Nil
	l.insist("Accept without an id", func() error { return l.box.Webhook().Accept(l.t.Context(), noID) })
}

// losesSecond drops the second answer that has a payment.
type losesSecond struct {
	*payments.Client
	taken atomic.Int32
}

func (c *losesSecond) Next(ctx context.Context) (payments.Payment, error) {
	if c.taken.Load() == 1 {
		ctx = context.Background() // which has no journal
	}
	p, err := c.Client.Next(ctx)
	if err == nil && c.taken.Add(1) == 2 {
		return payments.Payment{}, fmt.Errorf("the answer was cut: %w", payments.ErrAmbiguous)
	}
	return p, err
}

// byPoll: own payments, of which the second one's answer is lost.
func (l *life) byPoll() {
	l.t.Helper()
	ids := []uuid.UUID{l.order("poll"), l.order("poll"), l.order("poll")}
	l.pay(ids...)
	source := &losesSecond{Client: l.client}
	p, err := poller.New(poller.Config{
		Client: source, Ledger: l.box.Poller(), Logger: slog.New(slog.DiscardHandler),
		IntervalMin: 5 * time.Millisecond, IntervalMax: 10 * time.Millisecond, BackoffMax: 20 * time.Millisecond,
	})
	require.NoError(l.t, err)
	ctx, cancel := context.WithCancel(l.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(l.t, <-ended)
	}()
	l.await("a lost answer", func() bool {
		if source.taken.Load() < 2 { // a reconciliation has taken what was for the poller
			another := l.order("poll")
			l.pay(another)
			ids = append(ids, another)
			<-time.After(50 * time.Millisecond)
		}
		return source.taken.Load() >= 2
	})
	l.mustGrant(ids...)
	l.awaitGranted()
	polls := p.Stats().Polls // a poll after the lost one says that the loss is written down
	l.await("more polls", func() bool { return p.Stats().Polls > polls+1 })
}

// createdOddly: orders whose payment is created elsewhere, not at all, or perhaps.
func (l *life) createdOddly() {
	l.t.Helper()
	id := l.elsewhere("expected")
	l.insist("Expect", func() error { return l.box.Expect(l.t.Context(), id, sword("expected")) })
	l.insist("Create, refused", func() error {
		_, err := l.box.Create(l.t.Context(), sword(refusedHere))
		if e, ok := errors.AsType[*payments.Error](err); ok && e.Code == refusedHere && !strings.Contains(err.Error(), "stays open") {
			return nil
		}
		return err
	})
	// One order that may have a payment, however often it takes to be told so: a second one
	// of this identifier would make a match a guess.
	n := 0
	l.insist("Create, cut", func() error {
		n++
		_, err := l.box.Create(l.t.Context(), sword(fmt.Sprint(cutHere, n)))
		if errors.Is(err, payments.ErrAmbiguous) {
			return nil
		}
		return err
	})
	unbound := l.elsewhere(fmt.Sprint(cutHere, n))
	l.pay(id, unbound)
	l.deliver(id)
	l.deliver(unbound)
	l.mustGrant(id, unbound)
	l.awaitGranted()
}

const (
	refusedHere = "REFUSED"
	cutHere     = "cut"
)

// oddClient refuses or loses creations, by identifier.
type oddClient struct{ *payments.Client }

func (c oddClient) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	switch {
	case req.Identifier == refusedHere:
		return payments.Created{}, &payments.Error{Op: "Create", Code: refusedHere}
	case strings.HasPrefix(req.Identifier, cutHere):
		return payments.Created{}, fmt.Errorf("the answer was cut: %w", payments.ErrAmbiguous)
	}
	return c.Client.Create(ctx, req)
}

var clerk = inbox.Decision{Actor: "kim", Reason: "looked at it"}

// handlers: a run that fails, one that asks for another, and one that gives up.
func (l *life) handlers() {
	l.t.Helper()
	fails, snoozes, cancels := l.order("fails"), l.order("snoozes"), l.order("cancels")
	l.pay(fails, snoozes, cancels)
	for _, id := range []uuid.UUID{fails, snoozes, cancels} {
		l.deliver(id)
	}
	l.await("the end of a payment's runs", func() bool { return l.stage(cancels) == inbox.StageDead })
	l.insist("Retry", func() error { return l.box.Retry(l.t.Context(), cancels.String(), clerk) })
	l.mustGrant(fails, snoozes, cancels)
	l.awaitGranted()
}

// strangers: payments without an order go to review. Another record of one comes there.
func (l *life) strangers() {
	l.t.Helper()
	good, bad := l.elsewhere("stranger-1"), l.elsewhere("stranger-2")
	l.pay(good, bad)
	for _, id := range []uuid.UUID{good, bad} {
		l.deliver(id)
		l.await("the review", func() bool { return l.stage(id) == inbox.StageReview })
	}
	differs := payments.Payment{ID: good, Identifier: "stranger-1", Status: payments.StatusComplete, Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(2000)}
	l.insist("Accept another record", func() error { return l.box.Webhook().Accept(l.t.Context(), differs) })
	l.await("the second look", func() bool { return l.stage(good) == inbox.StageReview })
	l.insist("Approve", func() error { return l.box.Approve(l.t.Context(), good.String(), clerk) })
	l.insist("Reject", func() error { return l.box.Reject(l.t.Context(), bad.String(), clerk) })
	require.Equal(l.t, 1, l.decisions(good))
	require.Equal(l.t, 1, l.decisions(bad))
	require.Equal(l.t, inbox.StageDead, l.stage(bad))
	l.mustGrant(good)
	l.awaitGranted()
}

// losses: the answer that was dropped and the poller that was killed are reported until a
// person settles them.
func (l *life) losses() {
	l.t.Helper()
	l.await("that what the killed poller left is taken in", func() bool {
		return l.number(`SELECT count(*) FROM {p}polls WHERE outcome LIKE 'unclean:%'`) == 0
	})
	var losses []inbox.PossibleLoss
	l.insist("the possible losses", func() (err error) {
		losses, err = inbox.PossibleLosses(l.box)
		return err
	})
	reasons := ""
	for _, loss := range losses {
		reasons += loss.Reason + "\n"
		l.insist("SettleLoss", func() error { return l.box.SettleLoss(l.t.Context(), loss.ID, clerk) })
	}
	require.Contains(l.t, reasons, "ambiguous: the answer was cut", "the dropped answer is silent")
	require.Contains(l.t, reasons, "unclean", "the killed poller is silent")
	require.Zero(l.t, l.number(`SELECT count(*) FROM {p}polls WHERE closed_at IS NULL AND outcome <> ''`))
	require.Equal(l.t, len(losses), l.number(`SELECT count(*) FROM {p}audit WHERE action = 'settle loss'`))
}

// hints: webhooks name ids that nobody has paid. One is paid later.
func (l *life) hints() {
	l.t.Helper()
	id := l.elsewhere("stranger-3")
	l.insist("Note", func() error { return l.box.Webhook().RecordHint(l.t.Context(), id) })
	l.insist("Reconcile", func() error { // brings the confirm forward
		_, err := l.box.Reconcile(l.t.Context())
		return err
	})
	l.await("the confirm of a hint", func() bool {
		return l.number(`SELECT tries FROM {p}payments WHERE payment_id = $1`, id.String()) > 0
	})
	l.pay(id)
	l.deliver(id)
	l.await("the review of a hint", func() bool { return l.stage(id) == inbox.StageReview })
	for i := range 4 { // more than MaxHints
		unpaid := l.elsewhere(fmt.Sprint("unpaid-", i))
		l.post(unpaid)
	}
	l.await("the bound of hints", func() bool { // what a cut has left in doubt stays
		l.insist("EvictHints", func() error { return inbox.EvictHints(l.box) })
		return l.number(`SELECT count(*) FROM {p}payments WHERE stage = {hint}`) <= 2 ||
			l.number(`SELECT count(*) FROM {p}payments WHERE stage = {hint} AND confirm = {rejected}`) == 0
	})
}

// reconcile: one of the outstanding payments was paid, and nobody has said so.
func (l *life) reconcile() {
	l.t.Helper()
	paid, _ := l.order("unseen"), l.order("unpaid")
	l.pay(paid)
	l.insist("Reconcile", func() error {
		report, err := l.box.Reconcile(l.t.Context())
		if err == nil && report.Failed > 0 {
			err = fmt.Errorf("%d failed", report.Failed)
		}
		return err
	})
	l.mustGrant(paid)
	l.awaitGranted()
	l.insist("retention", func() error { return inbox.DropBodies(l.box) })
}

// look: all that only reads.
func (l *life) look() {
	l.t.Helper()
	ctx := l.t.Context()
	key := l.granted[0].String()
	var status inbox.Status
	for what, call := range map[string]func() error{
		"Status":     func() (err error) { status, err = l.box.Status(ctx); return err },
		"Get":        func() error { _, err := l.box.Get(ctx, key); return err },
		"Receipts":   func() error { _, err := l.box.Receipts(ctx, key); return err },
		"Audit":      func() error { _, err := l.box.Audit(ctx, key); return err },
		"LastReport": func() error { _, err := l.box.LastReport(ctx); return err },
		"State":      func() error { _, err := l.box.Webhook().State(ctx, uuid.New()); return err },
		"List": func() error {
			for _, err := range l.box.List(ctx, inbox.Filter{Identifier: "webhook-1", Stages: []inbox.Stage{inbox.StageDone}}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		l.insist(what, call)
	}
	require.Zero(l.t, status.Count[inbox.StageReady])
	require.Zero(l.t, status.OldestReady)
}

// afterwards another process has the ledger. It finds nothing to do.
func (l *life) afterwards() {
	l.t.Helper()
	box, err := inbox.Open(l.t.Context(), l.config(l.direct))
	require.NoError(l.t, err)
	report, err := box.Reconcile(l.t.Context())
	require.NoError(l.t, err)
	require.Zero(l.t, report.Recovered, "a payment that was left lying")
	claims, err := inbox.ClaimAll(box)
	require.NoError(l.t, err)
	require.Empty(l.t, claims, "payments that are ready in the end")
	l.close(box)
	for _, id := range l.granted {
		require.Equal(l.t, 1, l.effects(id), "effects of payment %s", id)
	}
	require.Equal(l.t, len(l.granted), l.number(`SELECT count(*) FROM {p}effects`), "effects of payments that are not to have one")
	for _, p := range l.mock.Payments() {
		if id := uuid.MustParse(p.ID); p.Status == mockserver.StatusComplete {
			require.GreaterOrEqual(l.t, l.stage(id), inbox.StageDone, "payment %s is complete", p.ID)
		}
	}
}
