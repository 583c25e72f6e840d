package sqlite_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestCloseWaitsForWhatIsOnItsWay: database/sql gives the connection of a transaction whose
// context has ended back a moment later than its owner's Rollback returns. A program that
// has ended all its work must not be told that it has not, and lose its lock to that.
func TestCloseWaitsForWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	synctest.Test(t, func(t *testing.T) {
		ledger, err := sqlite.Open(path, nil)
		require.NoError(t, err)
		conn, err := ledger.Writer.Conn(t.Context())
		require.NoError(t, err)
		go func() {
			<-time.After(100 * time.Millisecond)
			_ = conn.Close()
		}()
		require.NoError(t, ledger.Close())
		again, err := sqlite.Open(path, nil)
		require.NoError(t, err)
		require.NoError(t, again.Close())
	})
}
