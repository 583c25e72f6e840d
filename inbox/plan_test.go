package inbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

// fill adds n payments with the values, an expression of n for each of payment_id, stage, record, run_at,
// first_seen, ready_at, done_at, own; then it sets what the last two say.
func (s *stand) fill(n int, values, set, where string) {
	s.t.Helper()
	rows, now := fmt.Sprintf(`generate_series(1, %d) AS g(n)`, n), `(extract(epoch from now()) * 1000000)::bigint`
	if s.cfg.SQLite != nil {
		rows, now = fmt.Sprintf(`(WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < %d) SELECT n FROM g)`, n), `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
	}
	statements := []string{`INSERT INTO depositpay_payments (payment_id, stage, record, run_at, first_seen, ready_at, done_at, own) SELECT ` + values + ` FROM ` + rows}
	if set != "" {
		statements = append(statements, `UPDATE depositpay_payments SET `+set+` WHERE `+where)
	}
	for _, statement := range statements {
		s.do(strings.ReplaceAll(statement, "{now}", now))
	}
}

const week = `604800000000`

// history is a ledger of some years: what Status counts is in the smaller part of it.
func (s *stand) history() {
	s.t.Helper()
	for _, part := range []struct {
		n      int
		values string
	}{
		{60_000, `'done-' || n, 3, '', 1, n, n, n, 1`},
		{20_000, `'kept-' || n, 3, '{}', 1, {now} - ` + week + ` + n, n, {now} - ` + week + ` + n, 1`},
		{150_000, `'unpaid-' || n, 0, NULL, 4611686018427387904, n, NULL, NULL, 1`},
		{50, `'open-' || n, 0, NULL, 4611686018427387904, {now} - n, NULL, NULL, 1`},
		{100, `'hint-' || n, 1, NULL, {now} + 10000000, {now} - n, NULL, NULL, 0`},
		{12_000, `'ready-' || n, 2, '{}', {now} - 60000000 + n, n, {now} - 60000000 + n, NULL, 1`},
		{30, `'review-' || n, 4, '{}', 1, n, n, NULL, 1`},
		{11_000, `'dead-' || n, 5, '{}', 1, n, n, NULL, 1`},
	} {
		s.fill(part.n, part.values, "", "")
	}
	if s.cfg.DB != nil { // PostgreSQL does it by itself
		s.do(`ANALYZE`)
	}
}

// TestStatusIsBounded: it says so many or more, whatever the ledger holds.
func TestStatusIsBounded(t *testing.T) {
	if racing.On {
		t.Skip("SKIPPED: the race detector makes the rows slow and the plans no different; make test runs it without it")
	}
	each2(t, func(t *testing.T, pg bool) {
		s := newStand(t, pg, nil)
		s.history()
		require.Equal(t, map[inbox.Stage]int64{
			inbox.StageExpected: inbox.CountLimit, inbox.StageHint: 100, inbox.StageReady: inbox.CountLimit,
			inbox.StageDone: inbox.CountLimit, inbox.StageReview: 30, inbox.StageDead: inbox.CountLimit,
		}, s.status().Count)
		s.requireBounded()
	})
}

// requireBounded wants each statement of the operating path to read what it returns, and not
// what the ledger has gathered over the years.
func (s *stand) requireBounded() {
	s.t.Helper()
	atMost := map[string]int{ // rows that are read
		"claim": 16, "clock": 1, "hints": 100, "created ids": 1, "owed": 1, "outstanding": 200, "long outstanding": 150_000, "count hints": 100,
		"status": 6 * inbox.CountLimit, "losses": 1, "review": 30, "failed": 11_200, "waiting": 12_200, "bodies": 1, "records": 1,
	}
	statements := inbox.Statements(s.box)
	require.Len(s.t, statements, len(atMost))
	for name, statement := range statements {
		if s.cfg.SQLite != nil {
			tableScan := `^SCAN (depositpay_.*|[pq])$`
			switch name {
			case "status": // each index up to its LIMIT
				tableScan = `^SCAN depositpay_\S*$|TEMP B-TREE`
			case "losses", "waiting": // all that are open, all that are ready
				tableScan = `^SCAN depositpay_\S*$`
			}
			for _, step := range s.steps(statement) {
				require.NotRegexp(s.t, tableScan, step, name)
			}
			continue
		}
		visited, plan := s.visited(statement)
		require.LessOrEqual(s.t, visited, atMost[name], "%s\n%s", name, plan)
	}
}

// steps are those of SQLite's plan. A SEARCH reads a part of an index, a SCAN all of it or of
// the table.
func (s *stand) steps(statement inbox.Statement) (steps []string) {
	s.t.Helper()
	rows, err := s.ledger.Query(`EXPLAIN QUERY PLAN `+statement.Query, statement.Args...)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, rows.Close()) }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(s.t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	require.NoError(s.t, rows.Err())
	return steps
}

// visited is how many rows PostgreSQL reads for a statement, and its plan.
func (s *stand) visited(statement inbox.Statement) (rows int, plan string) {
	s.t.Helper()
	tx, err := s.ledger.Begin()
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, tx.Rollback()) }()
	require.NoError(s.t, tx.QueryRow(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) `+statement.Query, statement.Args...).Scan(&plan))
	var explained []struct{ Plan planNode }
	require.NoError(s.t, json.Unmarshal([]byte(plan), &explained))
	return explained[0].Plan.visited(), plan
}

type planNode struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	NodeType string  `json:"Node Type"`
	Plans    []planNode
}

func (p planNode) visited() (n int) {
	if p.Relation != "" && p.NodeType != "ModifyTable" {
		n = int((p.Rows + p.Filtered + p.Recheck) * p.Loops)
	}
	for _, child := range p.Plans {
		n += child.visited()
	}
	return n
}
