package inbox

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/internal/pragma"
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

// ErrUnsafe is wrapped by Open's error if the database may lose what it acknowledged.
var ErrUnsafe = errors.New("inbox: the database may lose what it acknowledged")

func checkDatabase(ctx context.Context, cfg *Config) error {
	if cfg.SQLite == nil {
		return checkPostgres(ctx, cfg.DB, cfg.AllowUnsafe)
	}
	if cfg.AllowUnsafe {
		return checkPools(cfg.SQLite)
	}
	if err := pragma.Ledger(ctx, cfg.SQLite.Writer, cfg.SQLite.Reader, cfg.SQLite.Intake); err != nil {
		return fmt.Errorf("%w: Config.SQLite: %w", ErrUnsafe, err)
	}
	return nil
}

// checkPools is the check that an unsafe ledger needs too: on several connections, transactions would
// make each other fail.
func checkPools(db *SQLite) error {
	for name, pool := range map[string]*sql.DB{"Writer": db.Writer, "Intake": db.Intake} {
		if limit := pool.Stats().MaxOpenConnections; limit != 1 {
			return fmt.Errorf("%w: Config.SQLite.%s: the pool may open %d connections; SetMaxOpenConns(1): SQLite has one writer at a time", ErrUnsafe, name, limit)
		}
	}
	return nil
}

// checkPostgres checks the settings that decide whether a commit survives a power cut or a failover.
func checkPostgres(ctx context.Context, db *sql.DB, allowUnsafe bool) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting('"+setting+"')").Scan(&value); err != nil {
			return fmt.Errorf("inbox: Config.DB: read %s: %w (is it PostgreSQL?)", setting, err)
		}
		if value == "off" && !allowUnsafe {
			return fmt.Errorf("%w: %s is off; turn it on, or set Config.AllowUnsafe", ErrUnsafe, setting)
		}
		if value == "local" && !allowUnsafe {
			if err := checkStandbys(ctx, db); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStandbys rejects synchronous_commit = local where synchronous standbys are configured: a
// failover would lose acknowledged commits. remote_write passes: the standby has the commit, and only
// power cuts of both machines at once lose it.
func checkStandbys(ctx context.Context, db *sql.DB) error {
	var standbys string
	if err := db.QueryRowContext(ctx, "SELECT current_setting('synchronous_standby_names')").Scan(&standbys); err != nil {
		return fmt.Errorf("inbox: Config.DB: read synchronous_standby_names: %w", err)
	}
	if standbys == "" {
		return nil
	}
	return fmt.Errorf("%w: synchronous_commit is local, but synchronous_standby_names is %q: a failover would lose what was acknowledged; "+
		"set synchronous_commit to on (or remote_write) for this role, or set Config.AllowUnsafe", ErrUnsafe, standbys)
}

// ErrPooler is wrapped by Open's error if the inbox cannot work with the pooler between Config.DB and
// PostgreSQL.
var ErrPooler = errors.New("inbox: the connection pooler does not fit")

// poolerTimeout bounds checkPooler.
const poolerTimeout = 5 * time.Second

// checkPooler runs one statement in transactions of two connections, such that a pooler that lends a
// server session per transaction must run it in a session that another connection used, or in one
// that is new to the connection. The inbox itself works there; named prepared statements of the driver
// do not.
func checkPooler(ctx context.Context, a, b *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	const query = "SELECT length($1::text)"
	for range 2 { // a round-robin pooler lends another session
		if err := runHeld(ctx, a, query, nil); err != nil {
			return poolerError(err)
		}
	}
	// A pooler that lends the session used last lends a's session to b, and another one to a.
	return poolerError(runHeld(ctx, b, query, func() error { return runHeld(ctx, a, query, nil) }))
}

// runHeld runs a query in a transaction, and calls meanwhile before the transaction ends.
func runHeld(ctx context.Context, c *sql.Conn, query string, meanwhile func() error) error {
	tx, err := c.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var n int
	if err := tx.QueryRowContext(ctx, query, "probe").Scan(&n); err != nil {
		return err
	}
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func poolerError(err error) error {
	switch {
	case err == nil:
		return nil
	case hasState(err, "42P05"), hasState(err, "26000"): // prepared statement exists, does not exist
		return fmt.Errorf("%w: it lends sessions for one transaction (PgBouncer: pool_mode = transaction) and the driver keeps prepared statements in them; "+
			"set default_query_exec_mode=exec (or simple_protocol) in pgx's connection string, or use session pooling or a direct connection: %w", ErrPooler, err)
	case strings.Contains(err.Error(), "statement pooling"):
		return fmt.Errorf("%w: it allows no transactions (PgBouncer: pool_mode = statement); "+
			"use transaction or session pooling, or a direct connection: %w", ErrPooler, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: two transactions at once were not let through within %v; "+
			"raise the pooler's pool size (PgBouncer: default_pool_size), or use a direct connection: %w", ErrPooler, poolerTimeout, err)
	}
	return fmt.Errorf("inbox: Config.DB: %w", err)
}
