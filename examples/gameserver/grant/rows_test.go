package grant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// TestStatements: what runs twice a second, and at each join, reads what is open and not
// what was granted in all the years.
func TestStatements(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, statement := range grant.Statements {
		plan := b.plan(statement)
		require.NotContains(t, plan, "SCAN grants\n", name)
		require.NotContains(t, plan, "grants_account", name)
		require.Contains(t, plan, "grants USING", name)
	}
}

// plan is what SQLite says of a statement, a line for each step.
func (b *bench) plan(statement string) string {
	b.t.Helper()
	var args []any
	for strings.Contains(statement, fmt.Sprintf("$%d", len(args)+1)) {
		args = append(args, "[]")
	}
	rows, err := b.cfg.SQLite.Reader.QueryContext(b.t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, rows.Close()) }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(b.t, rows.Scan(&id, &parent, &unused, &step))
		plan.WriteString(step + "\n")
	}
	require.NoError(b.t, rows.Err())
	return plan.String()
}
