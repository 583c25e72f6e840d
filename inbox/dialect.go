package inbox

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Dialect is the kind of database that holds the ledger.
type Dialect string

// The dialects.
const (
	DialectPostgreSQL Dialect = "postgresql"
	DialectSQLite     Dialect = "sqlite"
)

// dialect translates the common statements into SQL of one database.
type dialect struct {
	name    Dialect
	limit   time.Duration // see pool.bound
	replace *strings.Replacer
	known   sync.Map // the translations of constant statements
}

const (
	// The SELECT makes it one value per statement, which an index condition can use: without it,
	// PostgreSQL reads the clock for each row.
	postgresNow = "(SELECT (extract(epoch from clock_timestamp()) * 1000000)::bigint)"
	sqliteNow   = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
)

func newDialect(name Dialect, prefix string, serialize bool) *dialect {
	words := []string{
		"{p}", prefix,
		"{serialized}", map[bool]string{false: "0", true: "1"}[serialize],
		"{first}", "(r.outcome = 'accepted' OR r.outcome = 'review' AND r.channel <> 0)",
		"{new}", "WHERE NOT EXISTS (SELECT 1 FROM " + prefix + "payments q WHERE q.payment_id = ?1)",
	}
	if name == DialectPostgreSQL {
		words = append(words, "{now}", postgresNow, "{skip}", "FOR UPDATE OF p SKIP LOCKED", "{tie}", "payment_id",
			"{list}", "SELECT json_array_elements_text(?1::json)")
	} else { // one process and one writer: no locked rows to skip
		words = append(words, "{now}", sqliteNow, "{skip}", "", "{tie}", "rowid", "{list}", "SELECT value FROM json_each(?1)")
	}
	for stage, name := range stageNames {
		words = append(words, "{"+name+"}", strconv.Itoa(stage))
	}
	for state, name := range confirmNames {
		words = append(words, "{"+name+"}", strconv.Itoa(state))
	}
	return &dialect{name: name, limit: statementTimeout, replace: strings.NewReplacer(words...)}
}

var parameter = regexp.MustCompile(`\?(\d+)`)

// sql is the statement for this database. In it stand for
//
//	?1                the first parameter
//	{p}               the table prefix
//	{now}             the database's clock, in microseconds since 1970
//	{skip}            the lock of rows p that skips rows locked by others
//	{tie}             the column that orders payments first seen at the same time
//	{list}            the strings of the JSON array ?1
//	{serialized}      1 if new payments wait for earlier ones of their identifier
//	{first}           receipts r that hold a first record
//	{new}             the condition that payment ?1 does not exist
//	{ready} ...       the number of the Stage
//	{rejected} ...    the number of the ConfirmState
func (d *dialect) sql(statement string) string {
	if s, ok := d.known.Load(statement); ok {
		return s.(string)
	}
	s := d.words(statement)
	d.known.Store(statement, s)
	return s
}

// words is sql for statements that are built per call: their number is unbounded, so they are not
// cached.
func (d *dialect) words(statement string) string {
	s := d.replace.Replace(statement)
	if d.name == DialectPostgreSQL {
		s = parameter.ReplaceAllString(s, `$$$1`)
	}
	return s
}

var prefixForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)

// validPrefix checks a table prefix: it becomes part of statements.
func validPrefix(prefix string) error {
	if !prefixForm.MatchString(prefix) {
		return fmt.Errorf("inbox: Config.TablePrefix: %q is not 1 to 30 lower-case letters, digits and underscores, beginning with a letter", prefix)
	}
	return nil
}

// sqlLockPayment waits for other transactions that ran it for the same payment. Handlers do not run it.
const sqlLockPayment = `SELECT pg_advisory_xact_lock(hashtextextended('{p}payments ' || ?1, 0))`

// lockPayment lets one transaction at a time decide about a different record of a payment. SQLite has
// one writer anyway.
func (d *dialect) lockPayment(ctx context.Context, x execer, id string) error {
	if d.name == DialectSQLite {
		return nil
	}
	_, err := x.ExecContext(ctx, d.sql(sqlLockPayment), id)
	return err
}
