package inboxbench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

func record() payments.Payment {
	return payments.Payment{
		ID: uuid.New(), Identifier: "order-1", Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(10000), VerifiedAt: time.Unix(1_700_000_000, 0).UTC(),
		Metadata: payments.Metadata{Items: []payments.Item{{Name: "Sword", Price: payments.NewAmount(10000), Count: 1}}},
	}
}

func openBox(t *testing.T, change func(*inbox.Config)) *inbox.Inbox {
	t.Helper()
	client, err := payments.New(payments.Config{BaseURL: "http://127.0.0.1:1", Token: "test_bench"})
	require.NoError(t, err)
	cfg := inbox.Config{
		Client: client, AcceptUnknown: true, Logger: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, *sql.Tx, payments.Payment) error { return nil },
	}
	change(&cfg)
	box, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box
}

func openSQLite(t *testing.T) *inbox.SQLite {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "bench.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// rawLog is the physical limit: an append-only file, one sync for all that waits.
type rawLog struct {
	file *os.File
	in   chan rawLine
	done chan struct{}
}

type rawLine struct {
	line []byte
	err  chan error
}

func newRawLog(t *testing.T) *rawLog {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	l := &rawLog{file: file, in: make(chan rawLine, 256), done: make(chan struct{})}
	go l.run()
	t.Cleanup(func() {
		close(l.in)
		<-l.done
		require.NoError(t, file.Close())
	})
	return l
}

func (l *rawLog) run() {
	defer close(l.done)
	for first := range l.in {
		batch := []rawLine{first}
		for more := true; more && len(batch) < 256; {
			select {
			case next, ok := <-l.in:
				if more = ok; ok {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		var buf []byte
		for _, b := range batch {
			buf = append(append(buf, b.line...), '\n')
		}
		_, err := l.file.Write(buf)
		if err == nil {
			err = l.file.Sync()
		}
		for _, b := range batch {
			b.err <- err
		}
	}
}

func (l *rawLog) append(line []byte) error {
	err := make(chan error, 1)
	l.in <- rawLine{line, err}
	return <-err
}

func TestAcceptSQLite(t *testing.T) {
	benching(t)
	db := openSQLite(t)
	box := openBox(t, func(c *inbox.Config) { c.SQLite = db })
	other := openSQLite(t)
	_, err := other.Writer.ExecContext(t.Context(), `CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT NOT NULL)`)
	require.NoError(t, err)
	raw := newRawLog(t)
	line := func() (string, []byte) {
		p := record()
		body, err := json.Marshal(p)
		if err != nil {
			t.Error(err)
		}
		return p.ID.String(), body
	}
	got := compare(t,
		side{"inbox.Accept", 20_000, func(int) error { return box.Accept(t.Context(), record()) }},
		side{"one transaction a call", 4000, func(int) error {
			id, body := line()
			_, err := other.Writer.ExecContext(t.Context(), `INSERT INTO rows VALUES (?, ?) ON CONFLICT DO NOTHING`, id, string(body))
			return err
		}},
		side{"append and fsync, grouped", 20_000, func(int) error {
			_, body := line()
			return raw.append(body)
		}},
	)
	ratio(t, "SQLite accept, 64 callers: rate ÷ one transaction a call", got[0], got[1], rate, 4, true)
	ratio(t, "SQLite accept, 64 callers: rate ÷ raw log", got[0], got[2], rate, 0.75, true)
	ratio(t, "SQLite accept, 64 callers: p99 ÷ raw log's", got[0], got[2], p99, 2, false)
}

func TestAcceptPostgreSQL(t *testing.T) {
	benching(t)
	db := pgtest.New(t)
	db.DB.SetMaxOpenConns(16)
	db.DB.SetMaxIdleConns(16)
	box := openBox(t, func(c *inbox.Config) { c.DB = db.DB })
	_, err := db.DB.ExecContext(t.Context(), `CREATE TABLE rows (id text PRIMARY KEY, body text NOT NULL)`)
	require.NoError(t, err)
	got := compare(t,
		side{"inbox.Accept", 20_000, func(int) error { return box.Accept(t.Context(), record()) }},
		side{"one INSERT a call", 10_000, func(int) error {
			p := record()
			body, err := json.Marshal(p)
			if err != nil {
				return err
			}
			_, err = db.DB.ExecContext(t.Context(), `INSERT INTO rows VALUES ($1, $2) ON CONFLICT DO NOTHING`, p.ID.String(), string(body))
			return err
		}},
	)
	ratio(t, "PostgreSQL accept, 64 callers: rate ÷ one INSERT a call", got[0], got[1], rate, 1.8, true)
}
