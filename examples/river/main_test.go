package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// roleVariable makes the test binary the program itself.
const roleVariable = "DEPOSITPAY_TEST_RIVER"

func TestMain(m *testing.M) {
	if args := os.Getenv(roleVariable); args != "" {
		if err := run(context.Background(), strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(pgtest.Stopping(m).Run())
}

// worker starts a worker in a process of its own, which kill ends at once.
func worker(t *testing.T, dsn string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=work -postgres "+dsn)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

// TestWorkers: three workers in processes of their own fulfil what one receiver takes in,
// one of them is killed in the middle, and each order is fulfilled once.
func TestWorkers(t *testing.T) {
	const orders = 300
	database := pgtest.New(t)
	db := database.DB
	require.NoError(t, migrate(t.Context(), db))
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	box, err := openInbox(t.Context(), db, client)
	require.NoError(t, err)
	serving(t, mock, box, client)
	kill := worker(t, database.DSN)
	worker(t, database.DSN)
	worker(t, database.DSN)

	for i := range orders {
		created, err := box.Create(t.Context(), payments.CreateRequest{
			Title: "A sword", Identifier: fmt.Sprint("order-", i), Amount: payments.NewAmount(1000),
		})
		require.NoError(t, err)
		_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
		require.NoError(t, err)
	}
	await(t, db, func(done int) bool { return done > orders/3 })
	kill()
	await(t, db, func(done int) bool { return done == orders })
	for _, p := range mock.Payments() {
		mock.CheckCompletedOnce(t, p.ID)
	}
	require.Equal(t, orders, number(t, db, `SELECT count(*) FROM river_job WHERE state = 'completed'`), "jobs completed")
	require.Equal(t, orders, number(t, db, `SELECT count(DISTINCT args->>'payment_id') FROM river_job`), "one job each")
}

// serving runs the receiver until the test ends.
func serving(t *testing.T, mock *mockserver.Server, box *inbox.Inbox, client *payments.Client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, mock.SetWebhook(mock.Token(), "http://"+listener.Addr().String()+"/"))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, box, client, listener) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, errors.Join(<-done, box.Close()))
	})
}

// await waits for the number of orders fulfilled. A worker's job is rescued by River
// within a minute after it was killed.
func await(t *testing.T, db *sql.DB, enough func(done int) bool) {
	t.Helper()
	require.Eventually(t, func() bool { return enough(number(t, db, `SELECT count(*) FROM fulfilments`)) }, 2*time.Minute, 20*time.Millisecond)
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// TestNoID: a record without an id is no job, also when a person has approved it.
func TestNoID(t *testing.T) {
	db := pgtest.New(t).DB
	require.NoError(t, migrate(t.Context(), db))
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	box, err := openInbox(t.Context(), db, client)
	require.NoError(t, err)
	serving(t, mock, box, client)
	require.NoError(t, box.Webhook().Accept(t.Context(), payments.Payment{
		Identifier: "order-1", Status: payments.StatusComplete, PaidAmount: payments.NewAmount(1000),
	}))
	held := awaitEntry(t, box, inbox.StageReview)
	require.Equal(t, string(inbox.ReasonNoID), held.Reason)
	require.NoError(t, box.Approve(t.Context(), held.Key, inbox.Decision{Actor: "kim", Reason: "it came"}))
	require.Contains(t, awaitEntry(t, box, inbox.StageDead).Reason, "names no payment")
	require.Zero(t, number(t, db, `SELECT count(*) FROM river_job`))
}

// awaitEntry waits until a payment is in the stage.
func awaitEntry(t *testing.T, box *inbox.Inbox, stage inbox.Stage) (entry inbox.Entry) {
	t.Helper()
	require.Eventually(t, func() bool {
		for e, err := range box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{stage}}) {
			require.NoError(t, err)
			entry = e
		}
		return entry.Key != ""
	}, 2*time.Minute, 20*time.Millisecond)
	return entry
}

// TestFulfilledTwice: an order that a worker wrongly presumed dead has fulfilled is not fulfilled
// again, and its job completes.
func TestFulfilledTwice(t *testing.T) {
	db := pgtest.New(t).DB
	require.NoError(t, migrate(t.Context(), db))
	for _, statement := range []string{
		`INSERT INTO fulfilments (payment_id, identifier, worker) VALUES ('p', 'order-1', 'taken for dead')`,
		`INSERT INTO river_job (kind, args, state, max_attempts, attempt, scheduled_at) VALUES ('fulfil', '{"payment_id":"p","identifier":"order-1"}', 'available', 2, 1, now())`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, db, options{}) }()
	require.Eventually(t, func() bool {
		return number(t, db, `SELECT count(*) FROM river_job WHERE finalized_at IS NOT NULL`) == 1
	},
		2*time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, 1, number(t, db, `SELECT count(*) FROM river_job WHERE state = 'completed'`))
	require.Equal(t, 1, number(t, db, `SELECT count(*) FROM fulfilments WHERE worker = 'taken for dead'`))
}

// TestDemo: what the README tells people to start.
func TestDemo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "demo", "-postgres", pgtest.New(t).DSN, "-orders", "5")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "5 orders are paid.")
	require.Contains(t, string(out), "fulfilled ")
}

func TestUsage(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	require.ErrorContains(t, run(t.Context(), nil), "demo, receive, work")
	require.ErrorContains(t, run(t.Context(), []string{"work"}), "-postgres: missing")
}
