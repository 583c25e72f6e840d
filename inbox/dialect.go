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

// dialect turns the one set of statements into a database's own words.
type dialect struct {
	name       Dialect
	now        string        // microseconds since 1970, of the database's clock
	skip       string        // passes over rows that others have locked
	list       string        // the strings of the JSON array ?1
	serialized string        // whether new payments wait for earlier ones of their identifier: 1 or 0
	tie        string        // the column that orders payments first seen at the same time
	limit      time.Duration // see pool.bound
	replace    *strings.Replacer
	known      sync.Map // of the statements that are constants: what sql has made of them
}

const (
	// The SELECT makes it one value for a statement, so that an index can be asked for what
	// is before or after it: without, PostgreSQL reads the clock for each row.
	postgresNow = "(SELECT (extract(epoch from clock_timestamp()) * 1000000)::bigint)"
	sqliteNow   = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
)

func newDialect(name Dialect, prefix string, inOrder bool) *dialect {
	d := &dialect{name: name, serialized: "0", limit: statementTimeout}
	if inOrder {
		d.serialized = "1"
	}
	switch name {
	case DialectPostgreSQL:
		d.now, d.skip, d.tie = postgresNow, "FOR UPDATE OF p SKIP LOCKED", "payment_id"
		d.list = "SELECT json_array_elements_text(?1::json)"
	case DialectSQLite:
		// One process, one writer: nothing to pass over. The clock has milliseconds only.
		d.now, d.tie = sqliteNow, "rowid"
		d.list = "SELECT value FROM json_each(?1)"
	}
	words := []string{
		"{p}", prefix, "{now}", d.now, "{skip}", d.skip, "{tie}", d.tie, "{list}", d.list, "{serialized}", d.serialized,
		"{first}", "(r.outcome = 'accepted' OR r.outcome = 'review' AND r.channel <> 0)",
		"{new}", "WHERE NOT EXISTS (SELECT 1 FROM " + prefix + "payments q WHERE q.payment_id = ?1)",
	}
	for stage, name := range stageNames {
		words = append(words, "{"+name+"}", strconv.Itoa(stage))
	}
	for state, name := range confirmNames {
		words = append(words, "{"+name+"}", strconv.Itoa(state))
	}
	d.replace = strings.NewReplacer(words...)
	return d
}

var parameter = regexp.MustCompile(`\?(\d+)`)

// sql is the statement for this database: {p} is the table prefix, {now} the clock,
// {skip} the row locks, {tie} what orders within one tick, {list} the strings of the JSON
// array ?1, {serialized} whether order matters, {first} the receipts r that hold a first
// record, {new} the condition that the payment is not there, ?1 a parameter. The names of the
// stages, as {ready}, and of the states of a confirm, as {rejected}, are their numbers.
func (d *dialect) sql(statement string) string {
	if s, ok := d.known.Load(statement); ok {
		return s.(string)
	}
	s := d.words(statement)
	d.known.Store(statement, s)
	return s
}

// words is sql for statements that are made for a call: there is no end of them, so they
// are not remembered.
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

// sqlLockPayment waits for the transactions that have run it for the same payment. No handler
// is among them.
const sqlLockPayment = `SELECT pg_advisory_xact_lock(hashtextextended('{p}payments ' || ?1, 0))`

// lockPayment lets one transaction at a time decide what follows from a record that differs.
// On SQLite there is one writer in any case.
func (d *dialect) lockPayment(ctx context.Context, x execer, id string) error {
	if d.name == DialectSQLite {
		return nil
	}
	_, err := x.ExecContext(ctx, d.sql(sqlLockPayment), id)
	return err
}
