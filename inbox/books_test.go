package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// patience is with what must happen in the end; see package inboxtest for the variable.
var patience = func() time.Duration {
	if limit, err := time.ParseDuration(os.Getenv("DEPOSITPAY_TEST_PATIENCE")); err == nil && limit > 0 {
		return limit
	}
	return time.Minute
}()

const effectsTable = `CREATE TABLE effects (payment_id text NOT NULL, pid integer NOT NULL)`

// grant writes one effect.
func grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO effects (payment_id, pid) VALUES ('%s', %d)`, p.ID, os.Getpid()))
	return err
}

// books are the ledger and the effects of a database.
type books struct {
	t  *testing.T
	db *sql.DB
}

func newBooks(t *testing.T) (*pgtest.Database, books) {
	t.Helper()
	db := pgtest.New(t)
	require.NoError(t, inbox.Migrate(t.Context(), db.DB, inbox.DialectPostgreSQL, ""))
	b := books{t, db.DB}
	b.do(effectsTable)
	return db, b
}

func (b books) do(statement string, args ...any) {
	b.t.Helper()
	_, err := b.db.ExecContext(b.t.Context(), inbox.SQL(statement), args...)
	require.NoError(b.t, err)
}

func (b books) number(query string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.db.QueryRowContext(b.t.Context(), inbox.SQL(query), args...).Scan(&n))
	return n
}

func (b books) done() int {
	return b.number(`SELECT count(*) FROM {p}payments WHERE stage = {done}`)
}

func (b books) awaitDone(n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.done() >= n }, patience, 5*time.Millisecond, "not all payments were done in time")
}

// requireExact: each of the payments is in the ledger and done, and has one effect.
func (b books) requireExact(n int) {
	b.t.Helper()
	require.Equal(b.t, n, b.number(`SELECT count(*) FROM {p}payments`), "rows in the ledger")
	require.Equal(b.t, n, b.done(), "rows that are done")
	require.Equal(b.t, n, b.number(`SELECT count(DISTINCT payment_id) FROM effects`), "payments with an effect")
	require.Equal(b.t, n, b.number(`SELECT count(*) FROM effects`), "effects: some payment was granted twice")
}

func (b books) effects(id uuid.UUID) int {
	b.t.Helper()
	return b.number(`SELECT count(*) FROM effects WHERE payment_id = $1`, id.String())
}

// accepting is an inbox that only accepts.
func accepting(t *testing.T, cfg inbox.Config) *inbox.Inbox {
	t.Helper()
	if cfg.Client == nil {
		cfg.Client = nobody{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.AcceptUnknown, cfg.Handler = true, grant
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box
}

// nthPayment is the same in every process.
func nthPayment(n int) payments.Payment {
	return payments.Payment{
		ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, n)), Identifier: fmt.Sprint("order-", n), Status: payments.StatusComplete,
		Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(int64(n + 1)), VerifiedAt: time.Unix(1, 0).UTC(),
	}
}

// nobody is a service that cannot be reached.
type nobody struct{}

var errNobody = errors.New("nobody answers")

func (nobody) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, errNobody
}

func (nobody) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, errNobody
}

func (nobody) Decode([]byte) (payments.Payment, error) { return payments.Payment{}, errNobody }
