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
	// Decode parses the response of a poll that a crash cut off from its acceptance.
	Decode(raw []byte) (payments.Payment, error)
}

// Handler grants a payment. Its writes through tx and the mark "done" are one commit: they happen
// together, once, or not at all, even if the process is killed at any instruction or outlives its
// lease. Anything else it does may happen more than once; use p.ID as the idempotency key.
//
// The handler must not end tx. An error, a panic or a timeout rolls tx back, and the handler runs
// again later (see Config.MaxAttempts) unless the error is Cancel's or Snooze's. An error that wraps
// PostgreSQL's deadlock or serialization failure (SQLSTATE 40P01 or 40001) does not count as an
// attempt: the handler runs again at once, up to ten times.
//
// On PostgreSQL tx is READ COMMITTED, whatever the default of the database is. On SQLite tx is the
// only writer of the file: keep it short, and do not write through another connection, which would
// wait for tx.
type Handler func(ctx context.Context, tx *sql.Tx, p payments.Payment) error

// Config configures Open. Client, Handler and one of DB and SQLite are required.
type Config struct {
	// DB is the merchant's own PostgreSQL pool. The inbox reserves four of its connections, which all
	// inboxes on the same *sql.DB share, and uses up to Concurrency+1 more. Open takes all of them
	// once and fails within seconds if the pool does not have them (with pgxpool, set MaxConns).
	// Several inboxes on one *sql.DB share the rest too: if their handlers are slow, set its limit to
	// 4 plus the sum of Concurrency+1. Otherwise payments wait for a connection, which Run logs and
	// does not count as an attempt. Behind a pooler that lends sessions per transaction, such as
	// PgBouncer, the driver must not keep prepared statements (with pgx:
	// default_query_exec_mode=exec).
	DB *sql.DB
	// SQLite is a ledger opened by package inbox/sqlite. The inbox does not close it. Only one Inbox
	// can be open on it, whatever its prefix.
	SQLite *SQLite
	// TablePrefix begins the name of every table. Default DefaultTablePrefix.
	TablePrefix string
	// SkipMigration leaves the schema alone; Open then rejects one that does not match. See
	// MigrationSQL. Default: Open calls Migrate.
	SkipMigration bool
	// AllowUnsafe opens a database that may lose what it acknowledged (fsync or
	// synchronous_commit off, or synchronous_commit local with synchronous standbys). For experiments.
	AllowUnsafe bool

	// Client is the service. Handler grants payments.
	Client  Client
	Handler Handler

	// AcceptUnknown passes payments without a registered order to the handler. Default: they go to
	// review with ReasonUnknownOrder.
	AcceptUnknown bool
	// Catalogue has the products of a game store by metadata.game_product. A payment with a product
	// is checked against it and needs no order.
	Catalogue map[string]Product
	// NotBefore, if set, is when this ledger began. A payment without a registered order goes to
	// review with ReasonTooOld if the service verified it earlier or does not say when: another
	// ledger may have granted it, and anyone who knows its id can send its webhook again. Allow a
	// minute for differing clocks. Set it with AcceptUnknown or Catalogue when a new ledger replaces
	// an older one. Default: no limit.
	NotBefore time.Time

	// OnlyCreated states that this ledger knows every payment of Client's token before anyone can pay
	// it: from Create, or from Expect called before the link is given out. There is no game store, no
	// other program creates payments, and all pollers of the ledger use that token. Then a possible
	// loss settles itself: the next reconciliation confirms all outstanding payments, also those older
	// than OutstandingFor, and if the service answers for each one, the lost response cannot have held
	// a payment that is missing here. The proof is in Inbox.Audit, by the actor "inbox", and in the
	// log at info level.
	//
	// The loss stays open, and PossibleLoss.Unproven says why, while
	//
	//   - the service has not answered for an id,
	//   - an order has no payment id because the response to its creation was lost (for up to
	//     OutstandingFor),
	//   - the service rejects an id with a code that NotPaidCodes does not have,
	//   - no payment is done that shows whether the service confirms a payment twice,
	//   - more than 10,000 payments have been unpaid for longer than OutstandingFor.
	//
	// All replicas must agree on it. It is not true of a ledger that was restored from a backup, or
	// whose database failed over without its last commits: payments created since are not in it. Unset
	// it until OutstandingFor has passed and the ledger was compared with the service's list.
	// Default: a person settles every possible loss.
	OnlyCreated bool
	// NotPaidCodes are the error codes (payments.Error.Code) by which the service's confirm says that a
	// payment is not paid. A possible loss settles itself only if every outstanding id that is not
	// complete got one of them: behind any other code, such as one for too many requests, may be a
	// complete payment. PossibleLoss.Unproven names a missing code. Add it only if the service never
	// returns it for a complete payment. Default "PAYMENT_NOT_PAID", which is the mock's; live
	// deployments may use another.
	NotPaidCodes []string

	// Concurrency is how many handlers run at once. Default 8; on SQLite always 1, since the file has
	// one writer.
	Concurrency int
	// SerializeByIdentifier runs the handlers of one identifier's payments one after another, in order
	// of arrival: the next one waits until the one before is done, in review or dead. All replicas
	// must agree on it.
	SerializeByIdentifier bool
	// HandlerTimeout bounds one run of the handler. Default 30 s.
	HandlerTimeout time.Duration
	// MaxAttempts is how often a payment's handler is started before the payment is dead. An attempt
	// counts from its start, so a payment that crashes the process counts too, but not before its
	// transaction has begun. Default 12.
	MaxAttempts int
	// BackoffMin and BackoffMax bound the exponential backoff, with jitter, between two attempts.
	// Defaults 1 s and 10 min.
	BackoffMin, BackoffMax time.Duration

	// ConfirmRate is the most confirms a second of ids that this merchant did not create. Default 10.
	// Created ids go first, up to 50 a second, of which a reconciliation uses at most 40.
	ConfirmRate float64
	// MaxHints is how many ids that this merchant did not create may wait for a confirm. Beyond it, ids
	// that the service has rejected every time (ConfirmRejected) are evicted, the oldest first, and
	// counted. Any other id may be a complete payment and is never evicted: if those alone reach
	// MaxHints, new ids are turned away before they are confirmed. The service re-sends their
	// webhooks, and a poll brings their payments too. Several processes may exceed it by as many
	// webhooks as they have in progress. Default 10,000.
	MaxHints int
	// ReconcileEvery is the time between reconciliations. Others run at the start, after a possible
	// loss (repeatedly while its proof may still come; see OnlyCreated), and after the store was
	// down. Default 15 min; negative: no scheduled ones.
	ReconcileEvery time.Duration
	// OutstandingFor is how long after its creation an unpaid payment is still confirmed by
	// reconciliations. Default 7 days.
	OutstandingFor time.Duration
	// KeepBodies is how long received bodies are kept, also the records of done payments; the record
	// of a payment that waited in review may stay for as long again. The payment's row stays, with its
	// id and its stage. Do not set it to minutes where several processes share PostgreSQL: a poller
	// counts as dead after two, and what it received must still be there. Default 90 days; negative:
	// for ever.
	KeepBodies time.Duration

	// Logger gets at error level what needs a person, at warn level trouble that is handled, at info
	// level what became of payments. Default slog.Default().
	Logger *slog.Logger
	// GrantLevel is the level of the one log line per granted payment, with its id, identifier and paid
	// amount. Default slog.LevelInfo; slog.LevelDebug keeps it out of most logs.
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

// recordTimeout bounds storing the result of a handler.
const recordTimeout = 15 * time.Second

// lease is how long a claim is exclusive: longer than the handler may take.
func (cfg *Config) lease() time.Duration {
	if cfg.shortLease > 0 {
		return cfg.shortLease
	}
	return cfg.HandlerTimeout + recordTimeout
}

// SQLite is an open SQLite ledger: three pools on two files. Package inbox/sqlite opens it with the
// bundled driver. You may fill it with another driver; Open checks the settings of each pool.
type SQLite struct {
	// Writer is the ledger, with one connection: SQLite has one writer at a time, and a handler's
	// transaction uses it.
	Writer *sql.DB
	// Reader is the ledger, for reading.
	Reader *sql.DB
	// Intake is a separate database file, with one connection. Acceptances go there, so that they do
	// not wait for a handler's open transaction.
	Intake *sql.DB
	// Close closes all three and releases the files for another process.
	Close func() error
}
