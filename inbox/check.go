package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/depositpay/depositpay-go/inbox/internal/pragma"
)

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

// checkPools is what an unsafe ledger needs all the same: with several connections
// transactions would fail each other.
func checkPools(db *SQLite) error {
	for name, pool := range map[string]*sql.DB{"Writer": db.Writer, "Intake": db.Intake} {
		if limit := pool.Stats().MaxOpenConnections; limit != 1 {
			return fmt.Errorf("%w: Config.SQLite.%s: the pool may open %d connections; SetMaxOpenConns(1): SQLite has one writer at a time", ErrUnsafe, name, limit)
		}
	}
	return nil
}

// checkPostgres reads back the settings that decide whether a commit survives a power cut or
// a failover.
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

// checkStandbys refuses synchronous_commit = local where standbys are to have each commit: a
// failover would lose what was acknowledged. remote_write passes: the standby's server has
// the commit then, so that it takes power cuts of both machines at once to lose it.
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
