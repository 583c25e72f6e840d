package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestSettings: every connection of every pool runs as the guide says, also a connection
// that replaced a broken one.
func TestSettings(t *testing.T) {
	t.Parallel()
	ledger := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "busy_timeout": "5000", "foreign_keys": "1",
		"journal_size_limit": "67108864", "mmap_size": "0",
	}
	if runtime.GOOS == "darwin" {
		want["fullfsync"], want["checkpoint_fullfsync"] = "1", "1"
	}
	sizes := map[*sql.DB]int{ledger.Writer: 1, ledger.Reader: 4, ledger.Intake: 1}
	for db, size := range sizes {
		require.Equal(t, size, db.Stats().MaxOpenConnections)
		for range 2 { // the second time, all connections are new
			conns := make([]*sql.Conn, size)
			for i := range conns {
				var err error
				conns[i], err = db.Conn(t.Context())
				require.NoError(t, err)
				for setting, value := range want {
					var got string
					require.NoError(t, conns[i].QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&got))
					require.Equal(t, value, got, setting)
				}
			}
			for _, conn := range conns {
				discard(t, conn)
			}
		}
	}
}

// discard has the pool drop the connection, as it does with broken ones.
func discard(t *testing.T, conn *sql.Conn) {
	t.Helper()
	require.ErrorIs(t, conn.Raw(func(any) error { return driver.ErrBadConn }), driver.ErrBadConn)
}

// TestReaderCannotWrite, not even after it was told that it may.
func TestReaderCannotWrite(t *testing.T) {
	t.Parallel()
	ledger := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	execute(t, ledger.Writer, "CREATE TABLE t (x)")
	conn, err := ledger.Reader.Conn(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	for _, statement := range []string{"INSERT INTO t VALUES (1)", "PRAGMA query_only=OFF; INSERT INTO t VALUES (1)"} {
		_, err = conn.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "readonly")
	}
}

// TestOwnerOnly: nobody else can read a payment, whatever the umask and an older file say.
func TestOwnerOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	directory := filepath.Join(t.TempDir(), "new", "newer")
	path := filepath.Join(directory, "ledger.db")
	ledger := open(t, path)
	execute(t, ledger.Intake, "CREATE TABLE t (x)")
	all := []string{path, path + "-wal", path + "-shm", path + "-intake", path + "-intake-wal", path + "-intake-shm", path + "-lock"}
	requireModes(t, 0o600, all...)
	requireModes(t, 0o700, directory, filepath.Dir(directory))

	require.NoError(t, ledger.Close())
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, os.Chmod(path+"-intake", 0o666))
	open(t, path)
	requireModes(t, 0o600, all...)
}

func requireModes(t *testing.T, mode os.FileMode, names ...string) {
	t.Helper()
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

// TestClose: twice is fine, an open transaction is not, and the rows are there again.
func TestClose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledger := open(t, path)
	execute(t, ledger.Writer, "CREATE TABLE t (x)")
	tx, err := ledger.Writer.BeginTx(context.Background(), nil)
	require.NoError(t, err)

	require.ErrorIs(t, ledger.Close(), sqlite.ErrInUse)
	_, err = sqlite.Open(path, nil)
	require.ErrorIs(t, err, sqlite.ErrLocked, "the transaction may still commit")
	_, err = tx.Exec("INSERT INTO t VALUES (7)")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	require.NoError(t, ledger.Close())
	require.NoError(t, ledger.Close())

	require.NoFileExists(t, path+"-wal", "the last connection moves it into the database")
	require.Equal(t, 7, query[int](t, open(t, path).Reader, "SELECT x FROM t"))
}

// TestDeletedFile: a new connection does not bring an empty ledger into being.
func TestDeletedFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // does not let go of open files
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledger := open(t, path)
	require.NoError(t, os.Remove(path))
	conn, err := ledger.Writer.Conn(t.Context())
	require.NoError(t, err)
	discard(t, conn)
	require.ErrorContains(t, ledger.Writer.PingContext(t.Context()), "unable to open")
	require.NoFileExists(t, path)
}

func TestReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	_, err := sqlite.Open(path, &sqlite.Options{Readers: -1})
	require.ErrorContains(t, err, "Options.Readers is -1")
	ledger, err := sqlite.Open(path, &sqlite.Options{Readers: 9})
	require.NoError(t, err)
	require.Equal(t, 9, ledger.Reader.Stats().MaxOpenConnections)
	require.NoError(t, ledger.Close())
}
