package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// openOnPgxpool opens an inbox on a pool of pgx, as docs/guide/database-libraries.md shows it.
func openOnPgxpool(ctx context.Context, url string, client inbox.Client, grant inbox.Handler) (box *inbox.Inbox, stop func() error, err error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, err
	}
	cfg.MaxConns = 24 // the default is 4, or one for each processor if that is more
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	db := stdlib.OpenDBFromPool(pool) // takes its connections from pool
	box, err = inbox.Open(ctx, inbox.Config{DB: db, Client: client, Handler: grant, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return box, func() error {
		err := errors.Join(box.Close(), db.Close()) // db.Close leaves pool open
		pool.Close()
		return err
	}, nil
}

// grantTags reads and writes an array through database/sql.
func grantTags(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	var tags []string
	err := tx.QueryRowContext(ctx, `UPDATE orders SET tags = tags || $2 WHERE id = $1 RETURNING tags`,
		p.Identifier, []string{"paid"}).Scan(pgtype.NewMap().SQLScanner(&tags))
	if err != nil {
		return err
	}
	if len(tags) != 2 {
		return inbox.Cancel(errors.New("granted before"))
	}
	return nil
}

// TestPgxpool: a payment is granted on a pool of pgx, with an array in the handler's transaction.
func TestPgxpool(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.DB.ExecContext(t.Context(), `CREATE TABLE orders (id text PRIMARY KEY, tags text[] NOT NULL);
		INSERT INTO orders VALUES ('order-1', '{new}')`)
	require.NoError(t, err)
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	box, closeAll, err := openOnPgxpool(t.Context(), db.DSN, client, grantTags)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, closeAll()) })
	defer running(t, box)()

	created, err := box.Create(t.Context(), payments.CreateRequest{Title: "Tea", Identifier: "order-1", Amount: payments.NewAmount(1000)})
	require.NoError(t, err)
	_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	require.NoError(t, err)
	_, err = box.Reconcile(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		e, err := box.Get(t.Context(), created.PayToken.String())
		return err == nil && e.Stage == inbox.StageDone
	}, patience, 5*time.Millisecond)
}
