package pgtest_test

import (
	"database/sql"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
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

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
