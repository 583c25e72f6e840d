package inboxbench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// insertRow is what a merchant would write by hand: one INSERT a payment.
func insertRow(ctx context.Context, db *sql.DB) error {
	p := record(uuid.New())
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `INSERT INTO rows VALUES ($1, $2) ON CONFLICT DO NOTHING`, p.ID.String(), string(body))
	return err
}

func createRows(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `CREATE TABLE rows (id text PRIMARY KEY, body text NOT NULL)`)
	require.NoError(t, err)
}

func TestAcceptSQLite(t *testing.T) {
	paired.Enabled(t)
	box := openBox(t, databases[0].open(t), nil)
	other := openSQLite(t).Writer
	createRows(t, other)
	raw := newRawLog(t)
	got := paired.Compare(t,
		paired.Side{Name: "inbox.Accept", Round: paired.Calls(20_000, callers, func() error {
			return box.Webhook().Accept(t.Context(), record(uuid.New()))
		})},
		paired.Side{Name: "one transaction a call", Round: paired.Calls(4000, callers, func() error {
			return insertRow(t.Context(), other)
		})},
		paired.Side{Name: "append and fsync, grouped", Round: paired.Calls(20_000, callers, func() error {
			body, err := json.Marshal(record(uuid.New()))
			if err != nil {
				return err
			}
			return raw.append(body)
		})},
	)
	paired.Ratio(t, "SQLite accept, 64 callers: rate ÷ one transaction a call", got[0], got[1], paired.Rate, paired.AtLeast(4))
	paired.Ratio(t, "SQLite accept, 64 callers: rate ÷ raw log", got[0], got[2], paired.Rate, paired.AtLeast(0.75))
	paired.Ratio(t, "SQLite accept, 64 callers: p99 ÷ raw log's", got[0], got[2], paired.P99, paired.AtMost(2))
}

func TestAcceptPostgreSQL(t *testing.T) {
	paired.Enabled(t)
	box := openBox(t, databases[1].open(t), nil)
	other := pgtest.New(t).DB
	other.SetMaxOpenConns(16)
	other.SetMaxIdleConns(16)
	createRows(t, other)
	got := paired.Compare(t,
		paired.Side{Name: "inbox.Accept", Round: paired.Calls(20_000, callers, func() error {
			return box.Webhook().Accept(t.Context(), record(uuid.New()))
		})},
		paired.Side{Name: "one INSERT a call", Round: paired.Calls(10_000, callers, func() error {
			return insertRow(t.Context(), other)
		})},
	)
	paired.Ratio(t, "PostgreSQL accept, 64 callers: rate ÷ one INSERT a call", got[0], got[1], paired.Rate, paired.AtLeast(1.8))
}
