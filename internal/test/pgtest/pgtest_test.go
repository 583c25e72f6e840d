package pgtest_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestFreshAndApart: two databases of one server do not see each other, and are gone
// after their tests.
func TestFreshAndApart(t *testing.T) {
	var gone []string
	t.Run("group", func(t *testing.T) {
		for range 2 {
			t.Run("database", func(t *testing.T) {
				db := pgtest.New(t)
				execute(t, db.DB, "CREATE TABLE t (x int)")
				gone = append(gone, query[string](t, db.DB, "SELECT current_database()"))
				execute(t, open(t, db.DSN), "INSERT INTO t VALUES (7)")
				require.Equal(t, 7, query[int](t, db.DB, "SELECT x FROM t"))
			})
		}
	})
	require.Len(t, gone, 2)
	require.NotEqual(t, gone[0], gone[1])
	db := pgtest.New(t).DB
	require.Equal(t, 0, query[int](t, db, "SELECT count(*) FROM pg_database WHERE datname IN ('"+strings.Join(gone, "','")+"')"))
}

// TestDurable: a test of durability is worth nothing without these.
func TestDurable(t *testing.T) {
	t.Parallel()
	servers := map[string]*sql.DB{"cluster": open(t, pgtest.NewCluster(t).DSN("postgres"))}
	if os.Getenv(pgtest.Environment) == "" {
		servers["shared"] = pgtest.New(t).DB
	}
	for name, db := range servers {
		for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			require.Equal(t, "on", query[string](t, db, "SHOW "+setting), "%s of the %s server", setting, name)
		}
	}
}

// TestStopAndStart: in both modes committed rows are there again, on the same DSN, and a
// crash is a crash.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	cluster := pgtest.NewCluster(t)
	db := open(t, cluster.DSN("postgres"))
	execute(t, db, "CREATE TABLE t (x int)")
	for i, mode := range []string{"immediate", "fast", "immediate"} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (-1)")
		require.NoError(t, err)
		execute(t, db, "INSERT INTO t VALUES (1)")

		require.ErrorContains(t, cluster.Start(), "runs already")
		require.NoError(t, cluster.Stop(mode))
		require.Error(t, tx.Commit())
		require.ErrorContains(t, open(t, cluster.DSN("postgres")).PingContext(t.Context()), "refused")
		require.ErrorContains(t, cluster.Stop(mode), "stopped already")

		require.NoError(t, cluster.Start())
		require.Equal(t, i+1, query[int](t, open(t, cluster.DSN("postgres")), "SELECT sum(x) FROM t"))
		require.Equal(t, mode == "immediate", strings.Contains(cluster.Log(t), "was not properly shut down"))
	}
	require.ErrorContains(t, cluster.Stop("smart"), `no mode "smart"`)
}

// TestAlterSystem: a test can have a server with other settings, after a restart.
func TestAlterSystem(t *testing.T) {
	t.Parallel()
	cluster := pgtest.NewCluster(t)
	execute(t, open(t, cluster.DSN("postgres")), "ALTER SYSTEM SET fsync = off")
	require.NoError(t, cluster.Stop("fast"))
	require.NoError(t, cluster.Start())
	require.Equal(t, "off", query[string](t, open(t, cluster.DSN("postgres")), "SHOW fsync"))
}
