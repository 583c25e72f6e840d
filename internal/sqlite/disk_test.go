package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestKinds: the driver's and the system's words for a full disk both become ours.
func TestKinds(t *testing.T) {
	t.Parallel()
	db := byHand(t, filepath.Join(t.TempDir(), "small.db"))
	execute(t, db, "PRAGMA max_page_count=1")
	_, full := db.ExecContext(t.Context(), "CREATE TABLE t (x)")
	require.ErrorContains(t, full, "full")
	require.ErrorIs(t, sqlite.Failure("f", full), sqlite.ErrDiskFull)
	require.ErrorIs(t, sqlite.Failure("f", &os.PathError{Op: "open", Path: "f", Err: syscall.ENOSPC}), sqlite.ErrDiskFull)

	err := sqlite.Failure("f", fmt.Errorf("nobody knows: %w", os.ErrClosed))
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualError(t, err, "inbox: open SQLite ledger f: nobody knows: file already closed")
}
