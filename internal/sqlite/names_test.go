package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestNamesAreSynced: a power cut takes names away that were not synced with their directory,
// and the files with them. What Open creates was there when its directory was synced. (The
// disk of package powerloss takes that for granted.)
func TestNamesAreSynced(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	open(t, filepath.Join(root, "shops", "first", "ledger.db"))
	for _, made := range []string{"shops", "shops/first", "shops/first/ledger.db", "shops/first/ledger.db-intake"} {
		directory, name := filepath.Split(filepath.Join(root, filepath.FromSlash(made)))
		require.Contains(t, sqlite.Synced(filepath.Clean(directory)), name)
	}
}

// TestNamesCannotBeSynced: such a ledger is not opened.
func TestNamesCannotBeSynced(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	sqlite.BreakSync(root)
	for _, path := range []string{"ledger.db", "shop/ledger.db"} {
		require.ErrorContains(t, openAndClose(filepath.Join(root, filepath.FromSlash(path))), "made to fail", path)
	}
}
