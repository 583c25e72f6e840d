package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnsafe is wrapped by Open's error if the database may lose what it acknowledged.
var ErrUnsafe = errors.New("inbox: the database may lose what it acknowledged")

func checkDatabase(ctx context.Context, cfg *Config) error {
	if cfg.SQLite == nil {
		return checkPostgres(ctx, cfg.DB, cfg.AllowUnsafe)
	}
	for _, pool := range []struct {
		name string
		db   *sql.DB
	}{{"Writer", cfg.SQLite.Writer}, {"Intake", cfg.SQLite.Intake}} {
		if err := checkSQLite(ctx, pool.db, cfg.AllowUnsafe); err != nil {
			return fmt.Errorf("SQLite.%s: %w", pool.name, err)
		}
	}
	return nil
}

// checkPostgres reads back the settings that decide whether a commit survives a
// power cut.
func checkPostgres(ctx context.Context, db *sql.DB, allowUnsafe bool) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting('"+setting+"')").Scan(&value); err != nil {
			return fmt.Errorf("inbox: Config.DB: read %s: %w (is it PostgreSQL?)", setting, err)
		}
		if value == "off" && !allowUnsafe {
			return fmt.Errorf("%w: %s is off; turn it on, or set Config.AllowUnsafe", ErrUnsafe, setting)
		}
	}
	return nil
}

// minSQLite has the fix of the WAL-reset corruption.
var minSQLite = [3]int{3, 51, 3}

func checkSQLite(ctx context.Context, db *sql.DB, allowUnsafe bool) error {
	if limit := db.Stats().MaxOpenConnections; limit != 1 {
		return fmt.Errorf("inbox: the pool has %d connections; SetMaxOpenConns(1): SQLite has one writer at a time", limit)
	}
	var version, journal string
	var synchronous int
	for query, into := range map[string]any{
		"SELECT sqlite_version()": &version, "PRAGMA journal_mode": &journal, "PRAGMA synchronous": &synchronous,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return fmt.Errorf("inbox: %s: %w (is it SQLite?)", query, err)
		}
	}
	const full = 2
	switch {
	case olderSQLite(version):
		return fmt.Errorf("inbox: SQLite %s can corrupt a database in WAL mode; use 3.51.3 or later", version)
	case allowUnsafe:
		return nil
	case journal != "wal":
		return fmt.Errorf("%w: journal_mode is %s; use wal", ErrUnsafe, journal)
	case synchronous < full:
		return fmt.Errorf("%w: synchronous is %d; set it to FULL: NORMAL loses acknowledged rows at a power cut", ErrUnsafe, synchronous)
	}
	return nil
}

func olderSQLite(version string) bool {
	for i, part := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return true
		}
		if n != minSQLite[i] {
			return n < minSQLite[i]
		}
	}
	return false
}
