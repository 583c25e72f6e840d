package pgtest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// programs makes a folder with programs of these names.
func programs(t *testing.T, folder string, names ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o755))
	}
}

// TestFindBinaries: PATH first, then the newest that is whole.
func TestFindBinaries(t *testing.T) {
	root := t.TempDir()
	onPath := filepath.Join(root, "path")
	t.Setenv("PATH", onPath)
	folders := []string{root + "/nothing/*/bin", root + "/lib/*/bin"}

	_, err := pgtest.FindBinaries(folders)
	require.ErrorContains(t, err, "neither on PATH nor in the usual folders")

	programs(t, root+"/lib/9.6/bin", "postgres", "initdb")
	programs(t, root+"/lib/15/bin", "postgres", "initdb")
	programs(t, root+"/lib/17/bin", "postgres") // half of a package
	found, err := pgtest.FindBinaries(folders)
	require.NoError(t, err)
	require.Equal(t, root+"/lib/15/bin", found)

	require.NoError(t, os.Mkdir(onPath, 0o755))
	require.NoError(t, os.Symlink(root+"/lib/9.6/bin/postgres", onPath+"/postgres"))
	found, err = pgtest.FindBinaries(folders)
	require.NoError(t, err)
	require.Equal(t, "9.6", filepath.Base(filepath.Dir(found)), "next to what the link points to")
}

// TestWithDatabase in both forms of a DSN, with what else is in it.
func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://u:p%40w@h:5433/postgres?sslmode=disable",
		"postgresql://u:p%40w@h:5433?dbname=other&sslmode=disable",
		"postgres://u:p%40w@h:5433/?database=other&sslmode=disable",
		"host=h port=5433 user=u password='p@w' dbname=postgres sslmode=disable",
		"host=h port=5433 user=u password=p@w sslmode=disable",
	} {
		config, err := pgx.ParseConfig(pgtest.WithDatabase(dsn, "fresh"))
		require.NoError(t, err, dsn)
		require.Equal(t, "fresh", config.Database, dsn)
		require.Equal(t, "u p@w h", config.User+" "+config.Password+" "+config.Host)
		require.Equal(t, uint16(5433), config.Port)
		require.Nil(t, config.TLSConfig)
	}
}

// TestGivenServer: with a DSN in the environment that server is used, and left as it was.
func TestGivenServer(t *testing.T) {
	t.Parallel()
	cluster := pgtest.NewCluster(t)
	execute(t, open(t, cluster.DSN("postgres")), "ALTER SYSTEM SET log_statement = 'ddl'")
	require.NoError(t, cluster.Stop("fast"))
	require.NoError(t, cluster.Start())
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFreshAndApart$")
	cmd.Env = append(os.Environ(), pgtest.Environment+"="+cluster.DSN("postgres"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	db := open(t, cluster.DSN("postgres"))
	require.Equal(t, 3, query[int](t, db, "SELECT count(*) FROM pg_database"), "postgres and the templates")
	require.Equal(t, 3, strings.Count(cluster.Log(t), "statement: CREATE DATABASE depositpay_test_"))
}

// TestMissing: a skip says what to do; in CI it is a failure.
func TestMissing(t *testing.T) {
	for ci, ends := range map[string]string{"": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		fake := &recorder{TB: t}
		var loud strings.Builder
		pgtest.Missing(fake, &loud, errors.New("none is here"))
		require.Equal(t, ends, fake.ended)
		require.Contains(t, fake.message, "no PostgreSQL: none is here; install it")
		require.Contains(t, fake.message, pgtest.Environment)
		require.Contains(t, loud.String(), "SKIPPED: no PostgreSQL: none is here")
	}
}

type recorder struct {
	testing.TB
	ended, message string
}

func (r *recorder) Helper()           {}
func (r *recorder) Fatal(args ...any) { r.ended, r.message = r.ended+"failed", args[0].(string) }
func (r *recorder) Skip(args ...any) {
	if r.ended == "" { // Fatal does not return, but this one's does
		r.ended, r.message = "skipped", args[0].(string)
	}
}
