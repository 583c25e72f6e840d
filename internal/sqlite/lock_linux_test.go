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

// TestDescriptorOutlivesClose: while this process starts another program, that one has
// all descriptors for a moment. The ledger can be opened again all the same.
func TestDescriptorOutlivesClose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledger, err := sqlite.Open(path, nil)
	require.NoError(t, err)
	again, err := syscall.Dup(descriptor(t, path+"-lock"))
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Close(again)) }()
	require.NoError(t, ledger.Close())
	require.NoError(t, openAndClose(path))
}

// descriptor is that with which this process has the file open.
func descriptor(t *testing.T, path string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && name == path {
			var fd int
			_, err := fmt.Sscan(e.Name(), &fd)
			require.NoError(t, err)
			return fd
		}
	}
	require.FailNow(t, "not open", path)
	return 0
}
