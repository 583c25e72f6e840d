package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// counted opens connections that count the queries which the shop asks of its database.
type counted struct {
	by  driver.Driver
	dsn string
	n   *atomic.Int64
}

func (c counted) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.by.Open(c.dsn)
	return countedConn{conn, c.n}, err
}

func (c counted) Driver() driver.Driver { return c.by }

type countedConn struct {
	driver.Conn
	n *atomic.Int64
}

func (c countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.n.Add(1)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// TestDecidedCostLittle: of payments that were decided on in all the years the pages ask for
// many at once, and they show the ones that are open.
func TestDecidedCostLittle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := ""
			if name == "PostgreSQL" {
				dsn = pgtest.New(t).DSN
			}
			s := idle(t, dsn)
			t.Cleanup(func() { require.NoError(t, s.close()) })
			if dsn == "" {
				dsn = "file:" + s.File
			}
			var n atomic.Int64
			pool := sql.OpenDB(counted{s.db.read.Driver(), dsn, &n})
			t.Cleanup(func() { require.NoError(t, pool.Close()) })
			s.db.read = pool

			failed := s.years(t, 0, 3)
			require.Equal(t, failed, failedOn(t, s))
			before := n.Swap(0)
			require.Positive(t, before)
			s.years(t, atOnce, 0)
			require.Equal(t, failed, failedOn(t, s))
			require.Equal(t, before+2, n.Load(), "queries: one more for each of the list and the number")
		})
	}
}

// TestDecidedAnew: a payment that was rejected, and then run again by a tool, and failed, is
// not decided on any more.
func TestDecidedAnew(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		keeper := w.keeper()
		id, payToken := w.visitor().order("tea", 1)
		w.comes(payments.Payment{ID: uuid.MustParse(payToken), Identifier: id, Method: payments.MethodCulture}, "0")
		keeper.shows("/office/review", payToken)
		keeper.done("/office/review", "key", payToken, "do", "reject", "reason", "the voucher has failed")
		require.Contains(t, keeper.get("/office"), "<strong>0</strong> Not booked")
		require.NotContains(t, keeper.get("/office/failed"), payToken)
		_, err := w.shop.db.write.ExecContext(t.Context(), `UPDATE depositpay_payments SET reason = 'the handler failed', attempt = attempt + 1 WHERE payment_id = $1`, payToken)
		require.NoError(t, err)
		require.Contains(t, keeper.get("/office"), "<strong>1</strong> Not booked")
		require.Contains(t, keeper.get("/office/failed"), payToken)
	})
}

// failedOn are the keys of the page of failed payments, which the number must fit.
func failedOn(t *testing.T, s *shop) (keys []string) {
	t.Helper()
	held, err := s.failed(t.Context())
	require.NoError(t, err)
	for _, h := range held {
		keys = append(keys, h.Key)
	}
	var data officeView
	_, err = s.countTasks(t.Context(), &data)
	require.NoError(t, err)
	require.EqualValues(t, len(keys), data.Failed)
	slices.Sort(keys)
	return keys
}

// years puts dead payments into the ledger: rejected ones, half of them with money that goes
// back, and ones whose handler gave up, whose keys it returns.
func (s *shop) years(t *testing.T, decided, failed int) (keys []string) {
	t.Helper()
	for n := range decided + failed {
		p := payments.Payment{ID: uuid.New(), Status: payments.StatusComplete, Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(500)}
		record, err := json.Marshal(p)
		require.NoError(t, err)
		e := inbox.Entry{Key: p.ID.String(), Payment: p}
		reason := "the handler failed"
		switch {
		case n >= decided:
			keys = append(keys, e.Key)
		case n%2 == 0:
			reason = "rejected: underpaid"
		default:
			_, err := s.owe(t.Context(), e, 500, inbox.Decision{Actor: "Mina", Reason: fmt.Sprint(n)})
			require.NoError(t, err)
		}
		_, err = s.db.write.ExecContext(t.Context(), `INSERT INTO depositpay_payments (payment_id, stage, record, reason, run_at, first_seen, ready_at)
			VALUES ($1, 5, $2, $3, $4, $4, $4)`, e.Key, string(record), reason, int64(n))
		require.NoError(t, err)
		if strings.HasPrefix(reason, "rejected: ") {
			_, err = s.db.write.ExecContext(t.Context(), `INSERT INTO depositpay_audit (payment_id, action, actor, reason, at) VALUES ($1, 'reject', 'Mina', 'x', 1)`, e.Key)
			require.NoError(t, err)
		}
	}
	slices.Sort(keys)
	return keys
}
