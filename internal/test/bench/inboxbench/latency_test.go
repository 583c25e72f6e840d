package inboxbench_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestLatency: how long a customer of an idle shop waits, from the deposit to the
// commit of the handler's transaction: webhook, confirm, acceptance and hand-over.
func TestLatency(t *testing.T) {
	paired.Enabled(t)
	const deposits = 200
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			mock := mockserver.RunT(t)
			client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
			require.NoError(t, err)
			t.Cleanup(client.CloseIdleConnections)
			db, granted := d.open(t), make(chan string, 1)
			_, err = db.ledger.ExecContext(t.Context(), `CREATE TABLE grants (payment_id text PRIMARY KEY)`)
			require.NoError(t, err)
			box := openBox(t, db, func(c *inbox.Config) {
				c.Client = client
				c.Handler = func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
					_, err := tx.ExecContext(ctx, `INSERT INTO grants VALUES ($1)`, p.ID.String())
					granted <- p.ID.String()
					return err
				}
			})
			hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook(), Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			server := httptest.NewServer(hook)
			t.Cleanup(server.Close)
			require.NoError(t, mock.SetWebhook(mock.Token(), server.URL))
			stop := running(t, box)
			defer stop()
			took := make([]time.Duration, deposits)
			for i := range took {
				created, err := box.Create(t.Context(), request())
				require.NoError(t, err)
				took[i] = deposit(t, mock, db, created.PayToken, granted)
			}
			slices.Sort(took)
			paired.Duration(t, d.name+", idle: deposit → handler's commit, p50", took[deposits/2], paired.AtMost(20))
			paired.Duration(t, d.name+", idle: deposit → handler's commit, p99", took[deposits*99/100], paired.Goal{})
		})
	}
}

// deposit pays, and returns how long it took until the grant was there to be seen.
func deposit(t *testing.T, mock *mockserver.Server, db database, id uuid.UUID, granted <-chan string) time.Duration {
	t.Helper()
	began := time.Now()
	_, err := mock.Deposit(id.String(), mockserver.Deposit{})
	require.NoError(t, err)
	select {
	case got := <-granted:
		require.Equal(t, id.String(), got)
	case <-time.After(time.Minute):
		require.FailNow(t, "the deposit was not handed over")
	}
	for n := 0; n == 0; runtime.Gosched() {
		require.NoError(t, db.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM grants WHERE payment_id = $1`, id.String()).Scan(&n))
	}
	return time.Since(began)
}
