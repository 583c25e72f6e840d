package inboxbench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	history     = 1_000_000 // payments that are done
	historyHint = 10_000    // as many as Config.MaxHints lets wait
)

// historyBody makes a record as the service sends it.
const historyBody = `'{"id":"' || id || '","identifier":"player-' || n || '","status":"COMPLETE","method":"DEPOSIT","paid_amount":' || 1000 + n % 90000 || ` +
	`',"verified_ts":"2026-05-01T12:30:00Z","metadata":{"items":[{"name":"Sword of the north","price":' || 1000 + n % 90000 || ',"count":1}]}}'`

// The rows that years of business leave: payments, their orders and what was received.
// {rows} yields (n, id), {uuid} is a made-up UUID, {since} the
// first one's time: recent, so that no body is due to be dropped.
var historySQL = []string{
	`INSERT INTO depositpay_payments (payment_id, stage, source, own, identifier, order_id, amount, items, record, run_at, attempt, tries, first_seen, ready_at, done_at)
	 SELECT id, 3, 1, 1, 'player-' || n, {uuid}, CAST(1000 + n % 90000 AS text), '[{"name":"Sword of the north","price":1000,"count":1}]',
	 {body}, {since} + n * 1000, 1, 1, {since} + n * 1000, {since} + n * 1000, {since} + n * 1000 + 500 FROM {rows}`,
	`INSERT INTO depositpay_orders (order_id, payment_id, identifier, amount, items, created_at)
	 SELECT order_id, payment_id, identifier, amount, items, first_seen FROM depositpay_payments WHERE stage = 3`,
	`INSERT INTO depositpay_receipts (payment_id, channel, outcome, attempt, body, at)
	 SELECT payment_id, 1, 'repeat', 1, record, first_seen FROM depositpay_payments WHERE stage = 3`,
}

// Ids that strangers named: they wait, and never become due.
const hintsSQL = `INSERT INTO depositpay_payments (payment_id, stage, run_at, first_seen) SELECT id, 1, 4611686018427387904, {since} + n FROM {rows}`

var generators = map[string]struct{ rows, uuid, finish string }{
	"SQLite": {
		rows: `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n, ` + sqliteUUID + ` AS id FROM s)`,
		uuid: sqliteUUID, finish: `ANALYZE`,
	},
	"PostgreSQL": {
		rows: `(SELECT n, gen_random_uuid()::text AS id FROM generate_series(1, %d) AS n) AS s`,
		uuid: `gen_random_uuid()::text`, finish: `VACUUM ANALYZE`,
	},
}

const sqliteUUID = `lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' || substr(lower(hex(randomblob(2))), 2) || '-a' || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))`

// fill gives the ledger its history, and the statistics that the database would have
// gathered meanwhile.
func fill(t *testing.T, name string, db database) {
	t.Helper()
	began := time.Now()
	since := began.Add(-history * time.Millisecond).UnixMicro()
	g := generators[name]
	exec := func(statement string) {
		_, err := db.ledger.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	if name == "SQLite" {
		exec(`PRAGMA cache_size = -1000000`) // for the filling alone
	}
	fillIn := func(statement string, rows int) {
		exec(strings.NewReplacer("{rows}", fmt.Sprintf(g.rows, rows), "{uuid}", g.uuid, "{body}", historyBody, "{since}", fmt.Sprint(since)).Replace(statement))
	}
	for _, statement := range historySQL {
		fillIn(statement, history)
	}
	fillIn(hintsSQL, historyHint)
	exec(g.finish)
	if name == "SQLite" {
		exec(`PRAGMA cache_size = -2000`) // SQLite's default
		exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	} else {
		exec(`CHECKPOINT`)
	}
	t.Logf("%s: %d payments, orders and receipts, and %d hints filled in within %v", name, history, historyHint, time.Since(began).Round(time.Second))
}
