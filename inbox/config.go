package inbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// Client is what the inbox asks of the service. *payments.Client is one.
type Client interface {
	// Create creates a payment; see Inbox.Create.
	Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error)
	// Confirm verifies a payment; it is called for hints and for reconciliation.
	Confirm(ctx context.Context, payToken uuid.UUID) (payments.Payment, error)
	// Decode reads what a poll returned; it is called after a crash between a poll and
	// its hand-over.
	Decode(raw []byte) (payments.Payment, error)
}

// Handler grants a payment. What it writes through tx and the mark "done" are one
// commit: they happen together, once, or not at all, also if the process is killed
// at any instruction or outlives its lease. What it does elsewhere may happen more
// than once; p.ID is the key to make that idempotent.
//
// The handler must not end tx. An error, a panic or a timeout rolls tx back and the
// handler runs again later (see Config.MaxAttempts), unless the error is Cancel's or
// Snooze's. An error that wraps PostgreSQL's deadlock or serialization failure (SQLSTATE 40P01
// or 40001) is not counted as an attempt, and the handler runs again at once, up to ten times.
// On PostgreSQL tx is READ COMMITTED, whatever the default of the database is. On SQLite tx is the only writer of the file: keep it short, and do not write
// through another connection, which would wait for tx.
type Handler func(ctx context.Context, tx *sql.Tx, p payments.Payment) error

// Config configures Open. Client, Handler and one of DB and SQLite are required.
type Config struct {
	// DB is a PostgreSQL pool, the merchant's own. The inbox keeps four connections of it,
	// which all inboxes on the same *sql.DB share, and uses up to Concurrency+1 more. Open takes
	// them all once, and fails within seconds if the pool does not have them (with pgxpool: set
	// MaxConns). Several inboxes on one *sql.DB share these too, so set its limit to 4 and the sum
	// of Concurrency+1 if their handlers are slow: otherwise payments wait for a connection, which
	// Run logs and does not count as an attempt. A pooler such as PgBouncer may lend sessions for one transaction; then
	// the driver must not keep prepared statements (with pgx: default_query_exec_mode=exec).
	DB *sql.DB
	// SQLite is a ledger opened by package inbox/sqlite. The inbox does not close it. It has one
	// Inbox at a time, whatever the prefix.
	SQLite *SQLite
	// TablePrefix begins the name of every table. Default DefaultTablePrefix.
	TablePrefix string
	// SkipMigration leaves the schema alone; Open then refuses one that does not fit. See
	// MigrationSQL. Default: Open calls Migrate.
	SkipMigration bool
	// AllowUnsafe opens a database that may lose what it acknowledged (fsync or
	// synchronous_commit off, or synchronous_commit local with synchronous standbys). For experiments.
	AllowUnsafe bool

	// Client is the service. Handler grants payments.
	Client  Client
	Handler Handler

	// AcceptUnknown hands over payments for which no order was registered. Default: they
	// go to review as unknown_order.
	AcceptUnknown bool
	// Catalogue gives the products of a game store by metadata.game_product. A payment
	// with a product is checked against it and needs no order.
	Catalogue map[string]Product
	// NotBefore, if set, is when this ledger began. A payment that belongs to no registered
	// order and that the service verified before goes to review as too_old, since another
	// ledger may have handed it over and anybody who knows its id can send its webhook
	// again; so does one whose record tells no such time. Leave a minute for clocks that
	// differ. Set it with AcceptUnknown or Catalogue when a new ledger takes over from an
	// older one. Default: no limit.
	NotBefore time.Time

	// OnlyCreated states that every payment of Client's token is created by this ledger's
	// Create, or registered with Expect before its link is given out: there is no game
	// store, and no other program creates payments. All pollers of the ledger have that token.
	// Then a possible loss settles itself: the reconciliation that follows asks for all
	// outstanding payments, those older than OutstandingFor included, and if the service
	// answers for each, the lost answer held no payment that the ledger does not have. The
	// proof is in Inbox.Audit, by the actor "inbox", and in the log at info level. The loss
	// stays open, and PossibleLoss.Unproven says why, while an id is not answered for, while
	// an order has no payment id because the answer to its creation was lost (for up to
	// OutstandingFor), while the service refuses an id with a code that NotPaidCodes does not
	// name, while no payment is done by which to see that the service confirms one
	// again, and if more than 10,000 payments are unpaid for longer than OutstandingFor. All
	// replicas must agree on it. It does not hold for a ledger that was restored from a backup,
	// or whose database failed over without its last commits: payments that were created since
	// are not in it. Unset it then until OutstandingFor has passed since, and the books were
	// compared with the service's list. Default: a person settles every possible loss.
	OnlyCreated bool
	// NotPaidCodes are the error codes (payments.Error.Code) by which the service's confirm
	// says that a payment is not paid. A possible loss settles itself only if every outstanding
	// id that is not complete got one of them: any other code, such as one for too many
	// requests, may hide a payment that is complete. PossibleLoss.Unproven names the code that
	// is missing. Add it only if the service never gives it for a payment that is complete.
	// Default "PAYMENT_NOT_PAID", which is the mock's; live deployments may have another.
	NotPaidCodes []string

	// Concurrency is how many handlers run at once. Default 8; on SQLite, whose file has
	// one writer, they run one after the other.
	Concurrency int
	// SerializeByIdentifier hands over the payments of one identifier one after another, in the order
	// of arrival: the next one waits until the one before is done, in review or dead.
	// All replicas must agree on it.
	SerializeByIdentifier bool
	// HandlerTimeout bounds one run of the handler. Default 30 s.
	HandlerTimeout time.Duration
	// MaxAttempts is how often a payment's handler is started until the payment is dead.
	// Counted at the start, so that a payment which crashes the process counts too; not counted
	// if its transaction could not begin. Default 12.
	MaxAttempts int
	// BackoffMin and BackoffMax bound the wait between two runs, which doubles with jitter.
	// Defaults 1 s and 10 min.
	BackoffMin, BackoffMax time.Duration

	// ConfirmRate is how many ids that this merchant did not create are confirmed a second,
	// at most. Default 10. Created ids are confirmed ahead of them, up to 50 a second,
	// of which a reconciliation leaves ten to those that are due.
	ConfirmRate float64
	// MaxHints is how many ids that this merchant did not create may wait for a confirm. Beyond
	// it the oldest of those to each of whose confirms the service has said no are given up, and
	// counted. The others may be complete payments, and none of these is ever given up: if they
	// are as many by themselves, new ids are refused before they are confirmed. The service sends
	// their webhooks again, and a poll brings their payments too. Several processes may go
	// beyond it by as many webhooks as they have under way. Default 10,000.
	MaxHints int
	// ReconcileEvery is the time between reconciliations besides the one at the start, those
	// after a possible loss, which go on while its proof may still come (see OnlyCreated), and
	// those after the store was away. Default 15 min; negative: none.
	ReconcileEvery time.Duration
	// OutstandingFor is how long after its creation an unpaid payment is still asked for.
	// Default 7 days.
	OutstandingFor time.Duration
	// KeepBodies is how long received bodies are kept, the records of payments that are
	// done included. That of a payment that waited in review may stay for as long again. The payment's row, with its id and its mark, stays. Do not set it to minutes where
	// several processes share PostgreSQL: what a killed poller received counts as left behind after two.
	// Default 90 days; negative: for ever.
	KeepBodies time.Duration

	// Logger gets what a person should know: at error level what needs one, at warn level
	// trouble that is dealt with, at info level what payments became of. Default slog.Default().
	Logger *slog.Logger
	// GrantLevel is the level of the one line that is logged for each payment that is
	// granted, with its id, identifier and paid amount. Default slog.LevelInfo;
	// slog.LevelDebug keeps it out of most logs.
	GrantLevel slog.Level

	shortLease time.Duration // of tests: a lease that ends before the handler's timeout
	hook       hook          // of tests: see failpoint
	patience   time.Duration // of tests: in place of reserveTimeout
}

// Product is a product of the game store's dashboard.
type Product struct {
	// Price is the amount to pay.
	Price payments.Amount
	// PerItem allows any multiple of Price. Otherwise the amount is exactly Price.
	PerItem bool
}

func (cfg Config) withDefaults() Config {
	cfg.TablePrefix = cmp.Or(cfg.TablePrefix, DefaultTablePrefix)
	cfg.HandlerTimeout = cmp.Or(cfg.HandlerTimeout, 30*time.Second)
	cfg.MaxAttempts = cmp.Or(cfg.MaxAttempts, 12)
	cfg.BackoffMin = cmp.Or(cfg.BackoffMin, time.Second)
	cfg.BackoffMax = cmp.Or(cfg.BackoffMax, 10*time.Minute)
	cfg.ConfirmRate = cmp.Or(cfg.ConfirmRate, 10)
	cfg.MaxHints = cmp.Or(cfg.MaxHints, 10_000)
	cfg.ReconcileEvery = cmp.Or(cfg.ReconcileEvery, 15*time.Minute)
	cfg.OutstandingFor = cmp.Or(cfg.OutstandingFor, 7*24*time.Hour)
	cfg.KeepBodies = cmp.Or(cfg.KeepBodies, 90*24*time.Hour)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Concurrency = cmp.Or(cfg.Concurrency, 8)
	if cfg.SQLite != nil {
		cfg.Concurrency = 1 // a handler's transaction is the file's one writer
	}
	if cfg.NotPaidCodes == nil {
		cfg.NotPaidCodes = []string{"PAYMENT_NOT_PAID"}
	}
	return cfg
}

// validate expects defaults to be set.
func (cfg *Config) validate() error {
	switch {
	case cfg.Client == nil:
		return errors.New("inbox: Config.Client: is required")
	case cfg.Handler == nil:
		return errors.New("inbox: Config.Handler: is required")
	case (cfg.DB == nil) == (cfg.SQLite == nil):
		return errors.New("inbox: Config.DB and Config.SQLite: set one of them")
	case cfg.SQLite != nil && (cfg.SQLite.Writer == nil || cfg.SQLite.Reader == nil || cfg.SQLite.Intake == nil):
		return errors.New("inbox: Config.SQLite: has a pool that is nil; open it with package inbox/sqlite")
	case cfg.SQLite != nil && cfg.SQLite.Intake.Stats().InUse > 0: // an Inbox has its one connection
		return errors.New("inbox: Config.SQLite: an Inbox is open on it: use that one, close it first, or open another file")
	case cfg.OnlyCreated && (cfg.AcceptUnknown || len(cfg.Catalogue) > 0):
		return errors.New("inbox: Config.OnlyCreated: says that every payment is created here, and AcceptUnknown or Catalogue that some are not; unset one")
	case slices.Contains(cfg.NotPaidCodes, ""):
		return errors.New("inbox: Config.NotPaidCodes: has an empty code")
	case cfg.Concurrency < 0:
		return errors.New("inbox: Config.Concurrency: is negative")
	case cfg.MaxAttempts < 0:
		return errors.New("inbox: Config.MaxAttempts: is negative")
	case cfg.MaxHints < 0:
		return errors.New("inbox: Config.MaxHints: is negative")
	case cfg.HandlerTimeout < 0 || cfg.BackoffMin < 0 || cfg.OutstandingFor < 0:
		return errors.New("inbox: Config.HandlerTimeout, BackoffMin and OutstandingFor must not be negative")
	case cfg.BackoffMax < cfg.BackoffMin:
		return fmt.Errorf("inbox: Config.BackoffMax: %v is below BackoffMin %v", cfg.BackoffMax, cfg.BackoffMin)
	case cfg.ConfirmRate < 0:
		return errors.New("inbox: Config.ConfirmRate: is negative")
	}
	if cfg.DB != nil {
		if limit := cfg.DB.Stats().MaxOpenConnections; limit > 0 && limit < cfg.Concurrency+1+postgresConnections {
			return fmt.Errorf("inbox: Config.Concurrency: %d handlers and the inbox's own %d connections do not fit the pool's limit of %d; "+
				"raise DB.SetMaxOpenConns or lower Concurrency", cfg.Concurrency, 1+postgresConnections, limit)
		}
	}
	return validPrefix(cfg.TablePrefix)
}

// recordTimeout bounds how long it may take to record how a handler ended.
const recordTimeout = 15 * time.Second

// lease is how long a claim keeps others off: longer than the handler may take.
func (cfg *Config) lease() time.Duration {
	if cfg.shortLease > 0 {
		return cfg.shortLease
	}
	return cfg.HandlerTimeout + recordTimeout
}

// SQLite is an opened SQLite ledger: three pools on two files. Package inbox/sqlite
// opens it with the bundled driver; another driver may fill it by itself, and Open
// checks the settings of whatever it is given.
type SQLite struct {
	// Writer is the ledger, with one connection: SQLite has one writer at a time, and a
	// handler's transaction is it.
	Writer *sql.DB
	// Reader is the ledger, for reading.
	Reader *sql.DB
	// Intake is a database file of its own, with one connection: what arrives is
	// written there, so that a handler's open transaction holds up no acceptance.
	Intake *sql.DB
	// Close closes the three and gives the files free for another process.
	Close func() error
}
