package pragma_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/depositpay/depositpay-go/internal/pragma"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// good are the settings of a writer, as a merchant would write them down.
func good() map[string]string {
	return map[string]string{
		"journal_mode": "wal", "synchronous": "full", "busy_timeout": "5000", "foreign_keys": "1", "journal_size_limit": "1000000",
		"fullfsync": "1", "checkpoint_fullfsync": "1",
	}
}

func open(t *testing.T, path, begin string, settings map[string]string, size int) *sql.DB {
	t.Helper()
	query := url.Values{"_txlock": {begin}}
	for name, value := range settings {
		query.Add("_pragma", name+"="+value)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+query.Encode())
	require.NoError(t, err)
	db.SetMaxOpenConns(size)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func file(t *testing.T) string {
	t.Helper()
	directory, err := filepath.EvalSymlinks(t.TempDir()) // SQLite follows them, too
	require.NoError(t, err)
	return filepath.Join(directory, "ledger.db")
}

// TestMutants: one wrong setting is enough, and it is named.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants := []struct{ name, value string }{
		{"journal_mode", "delete"},
		{"journal_mode", "memory"},
		{"synchronous", "normal"},
		{"synchronous", "off"},
		{"busy_timeout", "0"},
		{"foreign_keys", "0"},
		{"journal_size_limit", "-1"},
		{"mmap_size", "1000000"},
		{"wal_autocheckpoint", "0"},
		{"locking_mode", "exclusive"},
		{"query_only", "1"},
	}
	for _, mutant := range mutants {
		t.Run(mutant.name+"="+mutant.value, func(t *testing.T) {
			t.Parallel()
			settings, path := good(), file(t)
			settings[mutant.name] = mutant.value
			_, err := pragma.Check(t.Context(), open(t, path, "immediate", settings, 1), pragma.Writer)
			require.ErrorIs(t, err, pragma.ErrSettings)
			var refusal *pragma.Error
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, path, refusal.File)
			require.Contains(t, refusal.Got, mutant.name+" is ")
			require.Contains(t, refusal.Fix, "PRAGMA "+mutant.name+"=")
			require.Equal(t, 1, strings.Count(err.Error(), "may not run like this"), "nothing else is wrong")
		})
	}
}

func TestGood(t *testing.T) {
	t.Parallel()
	path, reads := file(t), good()
	reads["query_only"] = "1"
	writer := open(t, path, "immediate", good(), 1)
	reader := open(t, path, "deferred", reads, 0)
	intake := open(t, path+"-intake", "exclusive", good(), 1)
	require.NoError(t, pragma.Ledger(t.Context(), writer, reader, intake))
	require.NoError(t, pragma.Ledger(t.Context(), writer, reader, intake), "nothing was changed or kept")

	stricter := good()
	stricter["synchronous"] = "extra"
	_, err := pragma.Check(t.Context(), open(t, file(t), "immediate", stricter, 1), pragma.Writer)
	require.NoError(t, err)
}

// TestPools: what is wrong with a pool, and not with a connection.
func TestPools(t *testing.T) {
	t.Parallel()
	path, reads := file(t), good()
	reads["query_only"] = "1"
	writer := open(t, path, "immediate", good(), 1)
	reader := open(t, path, "immediate", reads, 4)
	intake := open(t, path+"-intake", "immediate", good(), 1)
	require.NoError(t, pragma.Ledger(t.Context(), writer, reader, intake))

	cases := map[string]func(ctx context.Context) error{
		"the intake is the ledger itself": func(ctx context.Context) error { return pragma.Ledger(ctx, writer, reader, writer) },
		"the reader reads":                func(ctx context.Context) error { return pragma.Ledger(ctx, intake, reader, writer) },
		"query_only is 0":                 func(ctx context.Context) error { return pragma.Ledger(ctx, writer, intake, intake) },
		"may open 4 connections":          refused(open(t, path, "immediate", good(), 4)),
		"may open 0 connections":          refused(open(t, path, "immediate", good(), 0)),
		"does not take the write lock":    refused(open(t, path, "deferred", good(), 1)),
		"it is no file":                   refused(open(t, ":memory:", "immediate", good(), 1)),
	}
	for says, check := range cases {
		err := check(t.Context())
		require.ErrorIs(t, err, pragma.ErrSettings, says)
		require.ErrorContains(t, err, says)
	}
}

func refused(db *sql.DB) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := pragma.Check(ctx, db, pragma.Writer)
		return err
	}
}

// TestOneOfSeveral: a PRAGMA that was run with DB.Exec holds for one connection only.
func TestOneOfSeveral(t *testing.T) {
	t.Parallel()
	reads := good()
	reads["query_only"] = "1"
	delete(reads, "foreign_keys")
	db := open(t, file(t), "immediate", reads, 3)
	_, err := db.ExecContext(t.Context(), "PRAGMA foreign_keys=1")
	require.NoError(t, err)
	_, err = pragma.Check(t.Context(), db, pragma.Reader)
	require.ErrorContains(t, err, "foreign_keys is 0")
}

// TestClosed: what cannot be read is an error, but no refusal.
func TestClosed(t *testing.T) {
	t.Parallel()
	db := open(t, file(t), "immediate", good(), 1)
	require.NoError(t, db.Close())
	_, err := pragma.Check(t.Context(), db, pragma.Writer)
	require.ErrorContains(t, err, "database is closed")
	require.NotErrorIs(t, err, pragma.ErrSettings)
}
