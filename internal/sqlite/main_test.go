package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// helperPath makes this test binary a second process: it opens the ledger that it names,
// says so, and then writes rows until it is killed.
const helperPath = "DEPOSITPAY_TEST_HELPER_LEDGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperPath); path != "" {
		if err := helper(path); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, "error", err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// helper prints the id of each row after its commit: what is printed is acknowledged.
func helper(path string) error {
	ledger, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, db := range []*sql.DB{ledger.Writer, ledger.Intake} {
		if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body BLOB)"); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(os.Stdout, "open"); err != nil {
		return err
	}
	for {
		for _, db := range []*sql.DB{ledger.Writer, ledger.Intake} {
			var id int64
			err := db.QueryRowContext(ctx, "INSERT INTO rows (body) VALUES (randomblob(600)) RETURNING id").Scan(&id)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(os.Stdout, id); err != nil {
				return err
			}
		}
	}
}

func open(t *testing.T, path string) *inbox.SQLite {
	t.Helper()
	ledger, err := sqlite.Open(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	return ledger
}

func query[T any](t *testing.T, db *sql.DB, statement string) T {
	t.Helper()
	var value T
	require.NoError(t, db.QueryRowContext(t.Context(), statement).Scan(&value))
	return value
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}
