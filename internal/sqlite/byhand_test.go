package sqlite_test

import (
	"database/sql"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// byHand opens path with the driver alone, over one connection.
func byHand(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
