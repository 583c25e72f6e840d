package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestOddPaths: what means something in a connection string is only a name here.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	names := []string{
		"with space.db", "per%41cent.db", "100%.db", "hash#tag.db", "amp&ersand=1.db", "plus+plus.db", "semi;colon.db",
		"결제 장부.db", "it's.db", "_pragma=synchronous(0)", "-dash", "mode=memory",
	}
	if runtime.GOOS != "windows" {
		names = append(names, "what?.db", "?mode=memory&cache=shared", `"quoted".db`, `back\slash.db`, "line\nbreak.db", "file.db:memory:", "\xff.db")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := filepath.Join(t.TempDir(), name+".d")
			path := filepath.Join(directory, name)
			ledger := open(t, path)
			execute(t, ledger.Writer, "CREATE TABLE t (x)")
			execute(t, ledger.Writer, "INSERT INTO t VALUES (7)")
			require.NoError(t, ledger.Close())
			require.Equal(t, 7, query[int](t, open(t, path).Reader, "SELECT x FROM t"))

			entries, err := os.ReadDir(directory)
			require.NoError(t, err)
			for _, entry := range entries {
				require.True(t, strings.HasPrefix(entry.Name(), name), "%q next to %q", entry.Name(), name)
			}
		})
	}
}

// TestRefusedPaths: each is refused with its reason, and touches nothing.
func TestRefusedPaths(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	require.NoError(t, os.WriteFile(file, []byte("not a directory"), 0o600))
	link := filepath.Join(directory, "link")
	require.NoError(t, os.Symlink(filepath.Join(directory, "nothing"), link))
	cases := []struct{ path, says string }{
		{"", "temporary file"},
		{":memory:", "forgets every payment"},
		{":memory:?cache=shared", "forgets every payment"},
		{"file:ledger.db?mode=memory", "connection string"},
		{"a\x00b", "zero byte"},
		{directory + "/", "names a directory"},
		{directory, "directory or a device"},
		{link, "link to a file that does not exist"},
		{filepath.Join(directory, strings.Repeat("d", 250), strings.Repeat("f", 250)), "longer than"},
	}
	for _, c := range cases {
		_, err := sqlite.Open(c.path, nil)
		require.ErrorIs(t, err, sqlite.ErrPath, "%q", c.path)
		require.ErrorContains(t, err, c.says)
	}
	_, err := sqlite.Open(filepath.Join(file, "ledger.db"), nil)
	require.ErrorContains(t, err, "not a directory")
	require.ErrorContains(t, err, filepath.Join(file, "ledger.db"))
}

// TestHardLink: under a second name the database would get a second -wal file.
func TestHardLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // not found out there
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	require.NoError(t, open(t, path).Close())
	require.NoError(t, os.Link(path, path+".bak"))
	for _, name := range []string{path, path + ".bak"} {
		_, err := sqlite.Open(name, nil)
		require.ErrorIs(t, err, sqlite.ErrPath)
		require.ErrorContains(t, err, "hard link")
	}
	require.NoError(t, os.Remove(path+".bak"))
	open(t, path)
}

// TestNotADatabase: a file of something else stays as it was, whichever of the two it is,
// and the ledger can be opened once it is moved away.
func TestNotADatabase(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-intake"} {
		for _, garbage := range []string{"x", "my notes", strings.Repeat("All work and no play. ", 4000)} {
			path := filepath.Join(t.TempDir(), "ledger.db")
			require.NoError(t, os.WriteFile(path+suffix, []byte(garbage), 0o600))

			_, err := sqlite.Open(path, nil)
			require.ErrorIs(t, err, sqlite.ErrNotDatabase)
			require.ErrorContains(t, err, path+suffix+":")
			kept, err := os.ReadFile(path + suffix)
			require.NoError(t, err)
			require.Equal(t, garbage, string(kept))

			require.NoError(t, os.Remove(path+suffix))
			open(t, path)
		}
	}
}

// TestDamaged: a database whose pages are overwritten is not taken for a good one.
func TestDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledger := open(t, path)
	execute(t, ledger.Writer, "CREATE TABLE t (x)")
	require.NoError(t, ledger.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 100; i < len(content); i++ { // behind the header
		content[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	_, err = sqlite.Open(path, nil)
	require.ErrorIs(t, err, sqlite.ErrDamaged)
}

// TestBusy: a program that does not go by the lock file is named as what it is.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	require.NoError(t, open(t, path).Close())
	other := byHand(t, path)
	execute(t, other, "PRAGMA locking_mode=EXCLUSIVE")
	execute(t, other, "BEGIN EXCLUSIVE")
	_, err := sqlite.Open(path, nil)
	require.ErrorIs(t, err, sqlite.ErrBusy)
	execute(t, other, "ROLLBACK")
	require.NoError(t, other.Close())
	open(t, path)
}
