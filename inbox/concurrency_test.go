package inbox_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// withDefault is a database whose sessions begin with the setting.
func withDefault(t *testing.T, setting, value string) *pgtest.Database {
	t.Helper()
	db := pgtest.New(t)
	_, err := db.DB.ExecContext(t.Context(), fmt.Sprintf(
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET %s = %%L', current_database(), '%s'); END $$`, setting, value))
	require.NoError(t, err)
	return db
}

// TestDefaultIsolation: 400 of 400 payments are created and granted, by two replicas over
// both channels and at the first try, whatever isolation the database gives by default.
func TestDefaultIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			grantAtLevel(t, withDefault(t, "default_transaction_isolation", level))
		})
	}
}

func grantAtLevel(t *testing.T, db *pgtest.Database) {
	const callers, each = 8, 50
	_, err := db.DB.ExecContext(t.Context(), effectsTable)
	require.NoError(t, err)
	mock := mockserver.RunT(t, mockserver.Config{})
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var failed atomic.Int64
	boxes := make([]*inbox.Inbox, 2)
	for i := range boxes {
		pool, err := sql.Open("pgx", db.DSN)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, pool.Close()) })
		boxes[i], err = inbox.Open(ctx, inbox.Config{DB: pool, Client: client, Logger: slog.New(slog.DiscardHandler),
			BackoffMin: time.Millisecond, BackoffMax: time.Second,
			Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
				err := grant(ctx, tx, p)
				if err != nil {
					failed.Add(1)
				}
				return err
			}})
		require.NoError(t, err)
		running.Go(func() { assert.NoError(t, boxes[i].Run(ctx)) })
	}
	hook, err := webhook.New(webhook.Config{Client: client, Ledger: boxes[1].Webhook(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	web := httptest.NewServer(hook)
	require.NoError(t, mock.SetWebhook(mock.Token(), web.URL))
	poll, err := poller.New(poller.Config{Client: client, Ledger: boxes[0].Poller(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	running.Go(func() { _ = poll.Run(ctx) })
	var creating sync.WaitGroup
	for caller := range callers {
		creating.Go(func() {
			for n := range each {
				c, err := boxes[caller%2].Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: fmt.Sprint(caller, "-", n), Amount: payments.NewAmount(1000)})
				if assert.NoError(t, err) {
					_, err = mock.Deposit(c.PayToken.String(), mockserver.Deposit{})
					assert.NoError(t, err)
				}
			}
		})
	}
	creating.Wait()
	granted := 0
	assert.Eventually(t, func() bool {
		err := db.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM effects`).Scan(&granted)
		return err == nil && granted >= callers*each
	}, patience, 10*time.Millisecond, "granted in time")
	stop()
	running.Wait()
	web.Close()
	require.NoError(t, hook.Wait(t.Context()))
	assert.Equal(t, callers*each, granted)
	assert.Zero(t, failed.Load(), "runs of the handler that failed")
	for _, box := range boxes {
		require.NoError(t, box.Close())
	}
}

// TestDeadlockIsNoTry: a handler that the database undoes runs again at once, and no try
// is counted; if that happens every time, it runs again later, uncounted too.
func TestDeadlockIsNoTry(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"40P01", "40001"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			runs, undone := 0, 3
			box, err := inbox.Open(t.Context(), inbox.Config{
				DB: pgtest.New(t).DB, Client: nobody{}, AcceptUnknown: true, MaxAttempts: 1, Logger: slog.New(slog.DiscardHandler),
				Handler: func(context.Context, *sql.Tx, payments.Payment) error {
					if runs++; runs <= undone {
						return fmt.Errorf("give the sword: %w", &pgconn.PgError{Code: state})
					}
					return nil
				},
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, box.Close()) })
			handle := func(n int) inbox.Entry {
				t.Helper()
				p := nthPayment(n)
				require.NoError(t, box.Webhook().Accept(t.Context(), p))
				claims, err := inbox.ClaimAll(box)
				require.NoError(t, err)
				require.Len(t, claims, 1)
				inbox.Handle(box, &claims[0])
				e, err := box.Get(t.Context(), p.ID.String())
				require.NoError(t, err)
				return e
			}
			e := handle(1)
			assert.Equal(t, inbox.StageDone, e.Stage)
			assert.Equal(t, 4, runs)
			runs, undone = 0, 1000
			e = handle(2)
			assert.Equal(t, inbox.StageReady, e.Stage, "although MaxAttempts is 1")
			assert.Equal(t, 11, runs)
			assert.Zero(t, e.Tries)
			assert.Positive(t, time.Until(e.RunAt), "not at once")
		})
	}
}

// TestCancelledDeadlock: a handler that gives up because of a deadlock has given up.
func TestCancelledDeadlock(t *testing.T) {
	t.Parallel()
	runs := 0
	box, err := inbox.Open(t.Context(), inbox.Config{
		DB: pgtest.New(t).DB, Client: nobody{}, AcceptUnknown: true, Logger: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, *sql.Tx, payments.Payment) error {
			runs++
			return inbox.Cancel(errors.Join(errors.New("no more"), &pgconn.PgError{Code: "40P01"}))
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(1)))
	claims, err := inbox.ClaimAll(box)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	inbox.Handle(box, &claims[0])
	e, err := box.Get(t.Context(), nthPayment(1).ID.String())
	require.NoError(t, err)
	assert.Equal(t, inbox.StageDead, e.Stage)
	assert.Equal(t, 1, runs)
}

// TestReplicasAcceptTheSame: replicas accept the same payments at the same time, each in
// an order of its own. The rows that two groups share are locked in one order, or the
// server breaks the deadlock with an error that a whole group gets.
func TestReplicasAcceptTheSame(t *testing.T) {
	t.Parallel()
	const replicas, callers, rounds = 4, 64, 20
	db := pgtest.New(t)
	boxes := make([]*inbox.Inbox, replicas)
	for i := range boxes {
		pool, err := sql.Open("pgx", db.DSN)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, pool.Close()) })
		boxes[i] = accepting(t, inbox.Config{DB: pool})
	}
	for round := range rounds {
		var all sync.WaitGroup
		errs := make(chan error, replicas*callers*2)
		for _, box := range boxes {
			for _, n := range rand.Perm(callers) {
				all.Go(func() {
					p := nthPayment(round*callers + n)
					if n%2 == 0 { // a hint first, as a webhook leaves it
						errs <- box.Webhook().RecordHint(t.Context(), p.ID)
					}
					errs <- box.Webhook().Accept(t.Context(), p)
				})
			}
		}
		all.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
	}
	var ready int
	require.NoError(t, db.DB.QueryRowContext(t.Context(), inbox.SQL(`SELECT count(*) FROM {p}payments WHERE stage = {ready}`)).Scan(&ready))
	require.Equal(t, callers*rounds, ready)
}

// TestNoConnectionIsNoTry: a payment whose transaction cannot begin, because others hold all of the pool's connections
// for longer than HandlerTimeout, is given back at once and handed over later, although MaxAttempts is 1.
func TestNoConnectionIsNoTry(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := pgtest.New(t).DB
	db.SetMaxOpenConns(6)
	box, err := inbox.Open(t.Context(), inbox.Config{
		DB: db, Client: nobody{}, AcceptUnknown: true, Concurrency: 1, MaxAttempts: 1, HandlerTimeout: 500 * time.Millisecond,
		BackoffMin: time.Microsecond, BackoffMax: time.Microsecond,
		Handler: func(context.Context, *sql.Tx, payments.Payment) error { return nil }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	p := nthPayment(1)
	require.NoError(t, box.Webhook().Accept(t.Context(), p))
	var held [2]*sql.Conn // all that the inbox does not keep
	for i := range held {
		held[i], err = db.Conn(t.Context())
		require.NoError(t, err)
	}
	for range 2 {
		claims, err := inbox.ClaimAll(box)
		require.NoError(t, err)
		require.Len(t, claims, 1, "it is due again, and not only when its lease ends")
		inbox.Handle(box, &claims[0])
	}
	for _, c := range held {
		require.NoError(t, c.Close())
	}
	e, err := box.Get(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageReady, e.Stage)
	require.Zero(t, e.Tries)
	require.EqualValues(t, 2, e.Attempt)
	require.Contains(t, e.Reason, "the handler's transaction could not begin")
	require.Contains(t, log.String(), "no try is counted")

	claims, err := inbox.ClaimAll(box)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	inbox.Handle(box, &claims[0])
	e, err = box.Get(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageDone, e.Stage, e.Reason)
}

// TestRetriedGroupRepeatsNothing: a group whose record has to wait for a lock is retried. The no that it
// has stored before does not answer for a webhook that names the id meanwhile, and a poll's body
// is stored once.
func TestRetriedGroupRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t, true, nil)
	id, p := uuid.New(), nthPayment(1)
	require.NoError(t, s.box.Webhook().RecordHint(t.Context(), id))
	other, err := s.ledger.Begin()
	require.NoError(t, err)
	_, err = other.Exec(inbox.SQL(`INSERT INTO {p}payments (payment_id, stage, confirm, run_at, first_seen) VALUES ($1, {hint}, {named}, 0, 0)`), p.ID.String())
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- inbox.AcceptGroup(s.box, id.String(), "poll-1", p) }()
	s.awaitLock("transactionid")
	require.Equal(t, inbox.ConfirmRejected, s.confirmOf(id))
	var named time.Time
	require.NoError(t, s.ledger.QueryRow(inbox.SQL(`UPDATE {p}payments SET confirm = {named} WHERE payment_id = $1 RETURNING clock_timestamp()`), id.String()).Scan(&named),
		"as a webhook at another replica")
	require.Eventually(t, func() bool {
		var again bool
		require.NoError(t, s.ledger.QueryRow(`SELECT count(*) > 0 FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock' AND xact_start > $1`, named).Scan(&again))
		return again
	}, patience, time.Millisecond, "the group is retried")
	require.NoError(t, other.Rollback())
	require.NoError(t, <-ended)
	require.Equal(t, inbox.ConfirmNamed, s.confirmOf(id))
	var bodies int
	require.NoError(t, s.ledger.QueryRow(`SELECT count(*) FROM depositpay_receipts WHERE payment_id = 'poll-1'`).Scan(&bodies))
	require.Equal(t, 1, bodies)
}

func (s *stand) confirmOf(id uuid.UUID) inbox.ConfirmState {
	s.t.Helper()
	e := s.entry(id.String())
	return e.Confirm
}

// TestClaimCutAfterItsRows: every payment is handed over once, and Run ends, although a
// connection is cut after a claim has returned its rows and before it has said that these
// were all. The rows of the first try must not be added to those of the second one.
func TestClaimCutAfterItsRows(t *testing.T) {
	t.Parallel()
	const n = 40
	var armed, cut atomic.Bool
	db := pgtest.New(t).Tapped(t, &pgtest.Tap{CutAfterRows: func(query string, rows int) bool {
		claim := strings.Contains(query, "tries = tries + 1") && strings.Contains(query, "leased = ")
		return claim && rows > 1 && armed.CompareAndSwap(true, false) && cut.CompareAndSwap(false, true)
	}})
	handled := make(chan string, 10*n)
	cfg := inbox.WithLease(inbox.Config{
		DB: db, Client: nobody{}, AcceptUnknown: true, ReconcileEvery: -1, Logger: slog.New(slog.DiscardHandler),
		Handler: func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			handled <- p.ID.String()
			return nil
		},
	}, time.Second)
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, box.Close()) })
	for i := range n {
		require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(i)))
	}
	armed.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	times := map[string]int{}
	limit := time.After(patience)
	for len(times) < n {
		select {
		case id := <-handled:
			times[id]++
		case <-limit:
			require.FailNow(t, "hand-over has stopped", "%d of %d payments were handed over", len(times), n)
		}
	}
	stop()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(patience):
		require.FailNow(t, "Run does not end")
	}
	assert.True(t, cut.Load())
	for id, k := range times {
		assert.Equal(t, 1, k, id)
	}
}
