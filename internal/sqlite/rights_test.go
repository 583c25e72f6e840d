package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestDirectoryWithoutRights: a clear error, and nothing is left there.
func TestDirectoryWithoutRights(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	directory := t.TempDir()
	path := filepath.Join(directory, "ledger.db")
	require.NoError(t, os.Chmod(directory, 0o555))
	for _, name := range []string{path, filepath.Join(directory, "new", "ledger.db")} {
		err := withoutRoot(t, directory, func() error { return openAndClose(name) })
		require.ErrorIs(t, err, fs.ErrPermission)
		require.ErrorContains(t, err, "see to it that this user may")
		require.ErrorContains(t, err, name)
	}
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, entries)

	require.NoError(t, os.Chmod(directory, 0o700))
	open(t, path)
}

// TestFileWithoutRights: a ledger that may be read only is refused, and left alone.
func TestFileWithoutRights(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	for mode, says := range map[fs.FileMode]string{0o400: sqlite.ErrReadOnly.Error(), 0: "see to it that this user may"} {
		directory := t.TempDir()
		require.NoError(t, os.Chmod(directory, 0o777))
		path := filepath.Join(directory, "ledger.db")
		err := withoutRoot(t, directory, func() error {
			return errors.Join(os.WriteFile(path, nil, mode), openAndClose(path))
		})
		require.ErrorContains(t, err, says)
		requireModes(t, mode, path)
		require.NoError(t, os.Chmod(path, 0o600))
		require.NoError(t, withoutRoot(t, directory, func() error { return openAndClose(path) }), "no lock is left")
	}
}

func openAndClose(path string) error {
	ledger, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	return ledger.Close()
}
