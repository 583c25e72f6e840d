package inbox

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaVersion is the version of the schema that this code needs: the number of
// migration files of each dialect.
const schemaVersion = 1

// DefaultTablePrefix is Config.TablePrefix's default.
const DefaultTablePrefix = "depositpay_"

// ErrSchema is wrapped by Open's error if the schema is missing, too old or newer
// than the code, or does not have the columns that its version should have.
var ErrSchema = errors.New("inbox: the schema does not fit")

// MigrationSQL returns the statements that bring an empty database to the schema of
// this version, for people who run their own migrations. An empty prefix takes
// DefaultTablePrefix.
func MigrationSQL(name Dialect, prefix string) (string, error) {
	d, err := migrationDialect(name, prefix)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for version := 1; version <= schemaVersion; version++ {
		all.WriteString(d.migration(version))
		all.WriteString(d.sql("\nINSERT INTO {p}meta (name, value) VALUES ('schema', '" + strconv.Itoa(version) + "') " +
			"ON CONFLICT (name) DO UPDATE SET value = excluded.value;\n"))
	}
	return all.String(), nil
}

// Migrate brings the schema of db to this version. It is safe to call on every start
// and by many replicas at once. db is the PostgreSQL pool or SQLite.Writer. An empty
// prefix takes DefaultTablePrefix. A schema newer than the code is refused.
func Migrate(ctx context.Context, db *sql.DB, name Dialect, prefix string) error {
	d, err := migrationDialect(name, prefix)
	if err != nil {
		return err
	}
	tx, err := pool{db, d}.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("inbox: Migrate: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if name == DialectPostgreSQL {
		// Replicas that start at once wait here for the first one's commit.
		if _, err := tx.ExecContext(ctx, d.sql("SELECT pg_advisory_xact_lock(hashtext('{p}depositpay migrations'))")); err != nil {
			return fmt.Errorf("inbox: Migrate: %w", err)
		}
	}
	have, err := d.version(ctx, tx)
	if err != nil {
		return fmt.Errorf("inbox: Migrate: %w", err)
	}
	if have > schemaVersion {
		return newerSchema(have)
	}
	for version := have + 1; version <= schemaVersion; version++ {
		if err := d.apply(ctx, tx, version); err != nil {
			return fmt.Errorf("inbox: Migrate to version %d: %w", version, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("inbox: Migrate: %w", err)
	}
	return nil
}

func migrationDialect(name Dialect, prefix string) (*dialect, error) {
	if prefix == "" {
		prefix = DefaultTablePrefix
	}
	if name != DialectPostgreSQL && name != DialectSQLite {
		return nil, fmt.Errorf("inbox: unknown dialect %q", name)
	}
	return newDialect(name, prefix, false), validPrefix(prefix)
}

func newerSchema(have int) error {
	return fmt.Errorf("%w: it has version %d, this code knows %d; run a newer version of the program", ErrSchema, have, schemaVersion)
}

// migration returns the text of one migration.
func (d *dialect) migration(version int) string {
	text, err := migrations.ReadFile(fmt.Sprintf("migrations/%04d_%s.sql", version, map[Dialect]string{DialectPostgreSQL: "postgres", DialectSQLite: "sqlite"}[d.name]))
	if err != nil {
		panic(err) // embedded
	}
	return d.sql(string(text))
}

func (d *dialect) apply(ctx context.Context, tx *sql.Tx, version int) error {
	for statement := range strings.SplitSeq(d.migration(version), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, d.sql("INSERT INTO {p}meta (name, value) VALUES ('schema', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"), strconv.Itoa(version))
	return err
}

// versionIn is version in a transaction of its own.
func (d *dialect) versionIn(ctx context.Context, ledger pool) (int, error) {
	tx, err := ledger.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	return d.version(ctx, tx)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version reads the schema's version; 0 if there is none.
func (d *dialect) version(ctx context.Context, q querier) (int, error) {
	exists := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '{p}meta'"
	if d.name == DialectPostgreSQL {
		exists = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('{p}meta')"
	}
	var tables int
	if err := q.QueryRowContext(ctx, d.sql(exists)).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	var value string
	err := q.QueryRowContext(ctx, d.sql("SELECT value FROM {p}meta WHERE name = 'schema'")).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(value)
}
