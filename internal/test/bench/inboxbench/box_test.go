package inboxbench_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

const callers = 64

// request is an order, and record what the service says once it is paid.
func request() payments.CreateRequest {
	return payments.CreateRequest{
		Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000),
		Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(10000), Count: 1}},
	}
}

func record(id uuid.UUID) payments.Payment {
	return payments.Payment{
		ID: id, Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(10000), VerifiedAt: time.Unix(1_700_000_000, 0).UTC(),
		Metadata: payments.Metadata{Items: request().Items},
	}
}

// database is one of the two that the inbox knows.
type database struct {
	use            func(*inbox.Config)
	ledger, reader *sql.DB
}

var databases = []struct {
	name string
	open func(t *testing.T) database
}{
	{"SQLite", func(t *testing.T) database {
		db := openSQLite(t)
		return database{func(c *inbox.Config) { c.SQLite = db }, db.Writer, db.Reader}
	}},
	{"PostgreSQL", func(t *testing.T) database {
		db := pgtest.New(t).DB
		db.SetMaxOpenConns(24)
		db.SetMaxIdleConns(24)
		return database{func(c *inbox.Config) { c.DB = db }, db, db}
	}},
}

func openSQLite(t *testing.T) *inbox.SQLite {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "bench.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// silent is a service that the inbox need not ask: what is measured confirms by itself.
type silent struct{}

var errSilent = errors.New("the inbox asks nobody in this measurement")

func (silent) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, errSilent
}

func (silent) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, errSilent
}

func (silent) Decode([]byte) (payments.Payment, error) { return payments.Payment{}, errSilent }

// openBox opens an inbox that reconciles nothing, so that its background work is that
// of the payments at hand alone.
func openBox(t *testing.T, db database, change func(*inbox.Config)) *inbox.Inbox {
	t.Helper()
	cfg := inbox.Config{
		Client: silent{}, AcceptUnknown: true, Logger: slog.New(slog.DiscardHandler),
		Handler:        func(context.Context, *sql.Tx, payments.Payment) error { return nil },
		OutstandingFor: time.Nanosecond, Concurrency: 16,
	}
	db.use(&cfg)
	if change != nil {
		change(&cfg)
	}
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box
}
