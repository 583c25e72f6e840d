package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Config configures Open. SQLite and Catalogue are required.
type Config struct {
	// SQLite is the ledger that the inbox has, too.
	SQLite *inbox.SQLite
	// Catalogue is what there is to buy.
	Catalogue *Catalogue

	// AccountOf gives the account id of a payment that you created yourself, whose
	// identifier is your order's. Default: none, such payments need review. A payment of the
	// game store has the account id as its identifier.
	AccountOf func(p payments.Payment) string
	// Account is what an account id looks like. Default: 1 to 64 letters, digits, "_" and
	// "-", which every UUID is.
	Account *regexp.Regexp

	// Every is the time between two looks for new grants. Default 500 ms.
	Every time.Duration
	// LookEvery is the time between two looks whether a player of the claim box can take
	// something now, for games that do not call Joined. Default 30 s; negative: never.
	LookEvery time.Duration
	// GameTimeout bounds one call of the Game. Default 10 s.
	GameTimeout time.Duration
	// BackoffMin and BackoffMax bound the wait after a failure of the game, which doubles.
	// Defaults 1 s and 1 min.
	BackoffMin, BackoffMax time.Duration
	// MaxAttempts is how often a unit is given to a game that fails, and how often a game
	// that answers for others is asked for its player, until it needs review.
	// Default 20.
	MaxAttempts int

	// Logger gets what a person should know. Default slog.Default().
	Logger *slog.Logger
}

// Book is the ledger of grants. Its methods may be called at once from many goroutines.
type Book struct {
	cfg     Config
	born    time.Time
	running atomic.Bool
	wake    chan struct{}
	lookNow atomic.Bool
	joins   atomic.Int64 // how often a player has joined
	looked  string       // the claim box was looked through up to this account
	heard   int64        // how often the game has told about a player; of the worker alone
	silent  map[string]silence
}

// ErrRunning is the error of a second Run: one worker hands out the units.
var ErrRunning = errors.New("grant: Run is running already")

const schema = `CREATE TABLE IF NOT EXISTS grants (
	grant_key TEXT PRIMARY KEY, payment_id TEXT NOT NULL, line INTEGER NOT NULL, unit INTEGER NOT NULL,
	account TEXT NOT NULL, item TEXT NOT NULL, slots INTEGER NOT NULL,
	state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, due_at INTEGER NOT NULL, granted_at INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS grants_open ON grants (state, account, due_at) WHERE state <> 'granted';
CREATE INDEX IF NOT EXISTS grants_due ON grants (state, due_at) WHERE state <> 'granted';
CREATE INDEX IF NOT EXISTS grants_account ON grants (account, created_at);
CREATE TABLE IF NOT EXISTS grants_decisions (
	grant_key TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS grants_rejected (
	payment_id TEXT PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS grants_born (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL);`

// Open checks cfg, makes the tables where they are missing, and returns the Book. It starts
// nothing; see Run.
func Open(ctx context.Context, cfg Config) (*Book, error) {
	if cfg.SQLite == nil || cfg.Catalogue == nil {
		return nil, errors.New("grant: Config.SQLite and Config.Catalogue are required")
	}
	setDefaults(&cfg)
	if _, err := cfg.SQLite.Writer.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("grant: the tables cannot be made: %w", err)
	}
	born, err := bornAt(ctx, cfg.SQLite.Writer)
	if err != nil {
		return nil, fmt.Errorf("grant: the book cannot be read: %w", err)
	}
	return &Book{cfg: cfg, born: born, wake: make(chan struct{}, 1), silent: map[string]silence{}}, nil
}

// Born is when the book was made, in UTC; it survives restarts. What was bought before may
// have been given by another program: see inbox.Config.NotBefore.
func (b *Book) Born() time.Time { return b.born }

// bornAt writes the time down where it is missing.
func bornAt(ctx context.Context, writer *sql.DB) (time.Time, error) {
	if _, err := writer.ExecContext(ctx, `INSERT INTO grants_born (one, at) VALUES (1, $1) ON CONFLICT DO NOTHING`, now()); err != nil {
		return time.Time{}, err
	}
	var at int64
	err := writer.QueryRowContext(ctx, `SELECT at FROM grants_born`).Scan(&at)
	return time.UnixMicro(at).UTC(), err
}

func setDefaults(cfg *Config) {
	if cfg.Account == nil {
		cfg.Account = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = 20
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&cfg.Every, 500 * time.Millisecond}, {&cfg.LookEvery, 30 * time.Second}, {&cfg.GameTimeout, 10 * time.Second},
		{&cfg.BackoffMin, time.Second}, {&cfg.BackoffMax, time.Minute},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
}

// Wake makes the worker look now.
func (b *Book) Wake() {
	select {
	case b.wake <- struct{}{}:
	default: // it will look in any case
	}
}

// LookNow makes the worker look through the claim box now.
func (b *Book) LookNow() {
	b.lookNow.Store(true)
	b.Wake()
}

// inTx runs f in a transaction of the ledger's one writer.
func (b *Book) inTx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := b.cfg.SQLite.Writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func now() int64 { return time.Now().UnixMicro() }
