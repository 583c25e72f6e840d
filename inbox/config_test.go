package inbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// TestRefusals: Open does not run on a database that may lose what it acknowledged, and
// says why.
func TestRefusals(t *testing.T) {
	t.Parallel()
	open := func(cfg inbox.Config) error {
		cfg.Client, cfg.Handler = nobody{}, grant
		box, err := inbox.Open(context.Background(), cfg)
		if err == nil {
			err = box.Close()
		}
		return err
	}
	file := func(t *testing.T, path, pragmas string, connections int) *sql.DB {
		db, err := sql.Open("sqlite", "file:"+path+"?"+pragmas)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		db.SetMaxOpenConns(connections)
		return db
	}
	const rest = "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)&"
	const good = rest + "_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	for _, c := range []struct {
		name, pragmas string
		connections   int
		unsafe        bool
		says          string
	}{
		{"Good", good, 1, false, ""},
		{"SynchronousNormal", rest + "_pragma=journal_mode(wal)&_pragma=synchronous(normal)", 1, true, "synchronous is 1 and not FULL"},
		{"SynchronousOff", rest + "_pragma=journal_mode(wal)&_pragma=synchronous(off)", 1, true, "synchronous is 0 and not FULL"},
		{"JournalDelete", rest + "_pragma=synchronous(full)", 1, true, "journal_mode is delete and not WAL"},
		{"ManyWriters", good, 4, false, "may open 4 connections"},
		{"UnlimitedWriters", good, 0, false, "may open 0 connections"},
	} {
		t.Run("SQLite/"+c.name, func(t *testing.T) {
			t.Parallel()
			for _, bad := range []string{"Writer", "Intake"} {
				path := filepath.Join(t.TempDir(), "shop.db")
				cfg := inbox.Config{SQLite: &inbox.SQLite{
					Writer: file(t, path, good, 1), Reader: file(t, path, good+"&_pragma=query_only(1)", 4), Intake: file(t, path+"-intake", good, 1),
				}}
				if bad == "Writer" {
					cfg.SQLite.Writer = file(t, path, c.pragmas, c.connections)
					cfg.SQLite.Reader = file(t, path, c.pragmas+"&_pragma=query_only(1)", 4)
				} else {
					cfg.SQLite.Intake = file(t, path+"-intake", c.pragmas, c.connections)
				}
				err := open(cfg)
				if c.says == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, c.says)
				if c.unsafe {
					require.ErrorIs(t, err, inbox.ErrUnsafe)
					cfg.AllowUnsafe = true
					require.NoError(t, open(cfg))
				}
				if c.connections != 1 {
					cfg.AllowUnsafe = true
					require.ErrorContains(t, open(cfg), c.says, "one writer is no matter of safety alone")
				}
			}
		})
	}
	t.Run("PostgreSQL/SynchronousCommit", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		books := books{t, db.DB}
		books.do(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$`)
		again, err := sql.Open("pgx", db.DSN) // for sessions to come
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, again.Close()) })
		err = open(inbox.Config{DB: again})
		require.ErrorIs(t, err, inbox.ErrUnsafe)
		require.ErrorContains(t, err, "synchronous_commit is off")
		require.NoError(t, open(inbox.Config{DB: again, AllowUnsafe: true}))
	})
	t.Run("PostgreSQL/LocalCommit", func(t *testing.T) {
		t.Parallel()
		cluster := pgtest.NewCluster(t)
		opening := func(commit string) error {
			db, err := sql.Open("pgx", cluster.DSN("postgres")+"&synchronous_commit="+commit)
			require.NoError(t, err)
			defer func() { require.NoError(t, db.Close()) }()
			return open(inbox.Config{DB: db})
		}
		require.NoError(t, opening("local"), "there is no standby")
		admin, err := sql.Open("pgx", cluster.DSN("postgres"))
		require.NoError(t, err)
		defer func() { require.NoError(t, admin.Close()) }()
		_, err = admin.ExecContext(t.Context(), `ALTER SYSTEM SET synchronous_standby_names = 'replica'`)
		require.NoError(t, err)
		require.NoError(t, cluster.Stop("fast"))
		require.NoError(t, cluster.Start())
		err = opening("local")
		require.ErrorIs(t, err, inbox.ErrUnsafe)
		require.ErrorContains(t, err, `synchronous_commit is local, but synchronous_standby_names is "replica"`)
		for _, safe := range []string{"remote_write", "on", "remote_apply"} { // nothing is written, so nothing waits
			require.NoError(t, opening(safe), safe)
		}
	})
	t.Run("PostgreSQL/Fsync", func(t *testing.T) {
		t.Parallel()
		cluster := pgtest.NewCluster(t)
		db, err := sql.Open("pgx", cluster.DSN("postgres"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		books := books{t, db}
		for _, setting := range []string{"full_page_writes", "fsync"} {
			books.do(`ALTER SYSTEM SET ` + setting + ` = off`)
			require.NoError(t, cluster.Stop("fast"))
			require.NoError(t, cluster.Start())
			_ = db.PingContext(t.Context()) // finds the connections of before dead
			err = open(inbox.Config{DB: db})
			require.ErrorIs(t, err, inbox.ErrUnsafe)
			require.ErrorContains(t, err, setting+" is off")
		}
	})
	t.Run("PostgreSQL/SmallPool", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		db.DB.SetMaxOpenConns(8)
		require.ErrorContains(t, open(inbox.Config{DB: db.DB}), "do not fit the pool's limit of 8")
		require.NoError(t, open(inbox.Config{DB: db.DB, Concurrency: 3}))
	})
}

// TestSecondInbox: one ledger has one Inbox at a time, whatever the prefix; a second one would
// wait for the first for ever.
func TestSecondInbox(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	cfg := inbox.Config{SQLite: db, Client: nobody{}, Handler: grant}
	first, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	for _, prefix := range []string{inbox.DefaultTablePrefix, "other_"} {
		cfg.TablePrefix = prefix
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err = inbox.Open(ctx, cfg)
		cancel()
		require.EqualError(t, err, "inbox: Config.SQLite: an Inbox is open on it: use that one, close it first, or open another file")
	}
	require.NoError(t, first.Close())
	second, err := inbox.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

// TestWordsInJSON: words and back, not numbers.
func TestWordsInJSON(t *testing.T) {
	t.Parallel()
	type all struct {
		Stage    inbox.Stage
		Stages   map[inbox.Stage]int64
		Confirm  inbox.ConfirmState
		Channels []inbox.Channel
		Reason   inbox.Reason
		Outcome  inbox.Outcome
		Dialect  inbox.Dialect
	}
	value := all{
		inbox.StageReview, map[inbox.Stage]int64{inbox.StageDead: 2}, inbox.ConfirmRejected,
		[]inbox.Channel{0, inbox.ChannelPoll, inbox.ChannelWebhook | inbox.ChannelReconcile},
		inbox.ReasonUnderpaid, inbox.OutcomeSnoozed, inbox.DialectSQLite,
	}
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.JSONEq(t, `{"Stage":"review","Stages":{"dead":2},"Confirm":"rejected","Channels":["","poll","webhook,reconcile"],
		"Reason":"underpaid","Outcome":"snoozed","Dialect":"sqlite"}`, string(text))
	var back all
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, value, back)
}

// TestWordsThatAreNone: an error that names the words there are; a value out of range shows its number.
func TestWordsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, into := range map[string]any{
		`inbox: "paid" is no stage; use one of expected, hint, ready, done, review, dead`:     new(inbox.Stage),
		`inbox: "paid" is no confirm state; use one of none, named, asked, rejected, unknown`: new(inbox.ConfirmState),
		`inbox: "paid" is no channel; use one of webhook, poll, reconcile`:                    new(inbox.Channel),
	} {
		require.EqualError(t, json.Unmarshal([]byte(`"paid"`), into), text)
	}
	require.Equal(t, "stage(9) confirm(-1) poll,channel(10)", inbox.Stage(9).String()+" "+inbox.ConfirmState(-1).String()+" "+inbox.Channel(10).String())
}

// rejected is a client whose token fails with err.
type rejected struct {
	nobody
	err error
}

func (r rejected) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, r.err
}

// TestTokenFailsIsLoggedOnce: without a token that works all confirms fail, and one line an hour
// at error level says so.
func TestTokenFailsIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		errors int
	}{
		"refused": {payments.ErrTokenRefused, 1},
		"source":  {fmt.Errorf("vault: %w", payments.ErrTokenSource), 1},
		"another": {payments.ErrAmbiguous, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log logged
			box := accepting(t, inbox.Config{
				SQLite: openLedger(t, filepath.Join(t.TempDir(), "shop.db")), Client: rejected{err: test.err},
				ReconcileEvery: -1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			for n := range 3 {
				req := payments.CreateRequest{Title: "x", Identifier: fmt.Sprint(n), Amount: payments.NewAmount(1)}
				require.NoError(t, box.Expect(t.Context(), uuid.New(), req))
			}
			for range 2 {
				report, err := box.Reconcile(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, 3, report.Failed)
			}
			require.Equal(t, test.errors, log.count("level=ERROR"))
			require.Equal(t, test.errors, log.count(test.err.Error()))
		})
	}
}
