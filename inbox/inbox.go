package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// Inbox is the ledger of one merchant. Its methods are safe for concurrent use, and many processes may
// have an Inbox on one PostgreSQL database.
type Inbox struct {
	*core
	intake     *intake
	webhook    *webhookLedger
	polls      *pollLedger
	confirmer  *confirmer
	reconciler *reconciler
	dispatcher *dispatcher
	retention  *retention

	running atomic.Bool
	closing func() error
}

// Open checks cfg and the database, brings the schema up to date and returns the Inbox. It starts
// nothing; see Run. A database that may lose acknowledged commits is an error that says why.
func Open(ctx context.Context, cfg Config) (*Inbox, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &core{cfg: cfg, wakes: make(chan struct{}, 1), reconciles: make(chan struct{}, 1)}
	name := DialectPostgreSQL
	if cfg.SQLite != nil {
		name = DialectSQLite
	}
	c.d = newDialect(name, cfg.TablePrefix, cfg.SerializeByIdentifier)
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	b := &Inbox{core: c, intake: newIntake(c), dispatcher: &dispatcher{c}}
	b.webhook = newWebhookLedger(b.intake)
	b.polls = newPollLedger(b.intake)
	b.confirmer = newConfirmer(b.webhook)
	b.reconciler = &reconciler{confirmer: b.confirmer, polls: b.polls}
	b.retention = &retention{c, b.polls.recovered}
	b.closing = sync.OnceValue(func() error {
		b.webhook.places.close()
		unstored := b.intake.close()
		b.webhook.lookups.close()
		return errors.Join(unstored, b.store.close())
	})
	return b, nil
}

func (b *core) prepare(ctx context.Context) error {
	a := applier{d: b.d, hintDelay: hintDelay.Microseconds(), hook: b.cfg.hook}
	if b.cfg.SQLite != nil {
		if err := b.prepareLedger(ctx, pool{b.cfg.SQLite.Writer, b.d}); err != nil {
			return err
		}
		store, err := openSQLiteStore(ctx, *b.cfg.SQLite, a, b.cfg.Logger)
		if err != nil {
			return fmt.Errorf("inbox: open: %w", err)
		}
		b.store = store
	} else {
		// First: the statements below would wait for ever on a pool without a free connection.
		connections, err := reserve(ctx, b.cfg.DB, b.cfg.Concurrency, cmp.Or(b.cfg.patience, reserveTimeout))
		if err != nil {
			return err
		}
		ledger := pool{b.cfg.DB, b.d}
		b.store = &postgresStore{applier: a, pool: ledger, connections: connections}
		if err := b.prepareLedger(ctx, ledger); err != nil {
			return errors.Join(err, b.store.close())
		}
		if err := b.d.probe(ctx, ledger); err != nil {
			return errors.Join(err, b.store.close())
		}
	}
	if b.cfg.SerializeByIdentifier {
		if err := b.serializeExisting(ctx); err != nil {
			return errors.Join(err, b.store.close())
		}
	}
	return nil
}

// prepareLedger checks the database and brings the schema up to date.
func (b *core) prepareLedger(ctx context.Context, ledger pool) error {
	if err := checkDatabase(ctx, &b.cfg); err != nil {
		return err
	}
	if !b.cfg.SkipMigration {
		if err := Migrate(ctx, ledger.db, b.d.name, b.cfg.TablePrefix); err != nil {
			return err
		}
	}
	switch have, err := b.d.versionIn(ctx, ledger); {
	case err != nil:
		return fmt.Errorf("inbox: read the schema's version: %w", err)
	case have > schemaVersion:
		return newerSchema(have)
	case have < schemaVersion:
		return fmt.Errorf("%w: it has version %d, this code needs %d; call Migrate or run MigrationSQL", ErrSchema, have, schemaVersion)
	}
	return nil
}

// Close waits for acceptances in progress and rejects later ones. Call it after Run has returned. It
// does not close the database. If confirmed payments are still not stored, the log names them and the
// error wraps ErrUnstored. A second Close does nothing and returns the result of the first.
func (b *Inbox) Close() error { return b.closing() }

// Webhook returns the inbox as the Ledger of a webhook.Handler. Accept of a payment that
// cannot be stored now also keeps it in memory, and Run stores it as soon as the database is
// back. Accept still returns an error, since a kill would lose the memory.
func (b *Inbox) Webhook() webhook.Ledger { return b.webhook }

// Poller returns the inbox as the Ledger of a poller.Poller.
func (b *Inbox) Poller() poller.Ledger { return b.polls }

// ErrRunning is the error of a Run while another Run of the same Inbox has not returned.
var ErrRunning = errors.New("inbox: Run is running already")

// Run runs handlers, confirms hints and reconciles until ctx ends. Then it starts nothing new, lets
// running handlers finish or time out, records their results, and returns nil. Failures of the database
// are logged and retried. No goroutine outlives Run. Acceptances do not need it.
func (b *Inbox) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer b.running.Store(false)
	var loops sync.WaitGroup
	loops.Go(func() { b.dispatcher.handleLoop(ctx) })
	loops.Go(func() { b.loop(ctx, "confirm", time.Second, b.confirmer.confirmDue) })
	loops.Go(func() { b.reconciler.reconcileLoop(ctx) })
	loops.Go(func() { b.loop(ctx, "outage", tick, b.intake.outageStep) })
	loops.Go(func() { b.loop(ctx, "poll journal", beatEvery, b.polls.beatStep) })
	loops.Go(func() { b.loop(ctx, "retention", time.Hour, b.retention.dropBodies) })
	loops.Go(func() { b.loop(ctx, "clock", clockEvery, (&clockWatch{b: b.core}).look) })
	loops.Wait()
	return nil
}

// ledgerStatements are the statements that Open has PostgreSQL check. On SQLite the fold prepares its
// own.
var ledgerStatements = slices.Concat(opStatements, []string{
	strings.Replace(sqlClaim, "/*order*/", sqlSerialize, 1), strings.Replace(sqlSerializeExisting, "/*stage*/", "p.stage = {ready}", 1),
	sqlFence, sqlReschedule, sqlGiveBack, sqlSetAside, sqlRun, sqlLatest, sqlLockPayment, sqlCountHints, sqlEvict, sqlLateOrder, sqlOpenOrder, sqlTake,
	sqlOwed, sqlOwedLater, sqlDoubts, sqlOpenPolls, sqlClose, sqlLoss,
	sqlAlive, sqlBeat, sqlQuiet, sqlUnclean, sqlTakenIn, sqlAbandoned, sqlRaw, sqlEntry, sqlReceipts, sqlFirst,
	sqlOutstanding, sqlForward, sqlOldReceipts, sqlDropBodies, sqlDropRecords, sqlLookup,
	sqlLookAhead, sqlHowAhead, sqlMoveBack, sqlHintsAhead, sqlMoveHintsBack, sqlBeatsAhead, sqlMoveBeatsBack,
	sqlStatus, sqlLosses, sqlLongOutstanding, sqlNoID, sqlKnown, sqlIDOf, sqlOwes, sqlSettle, sqlDateReceipts, sqlHints, sqlNewRecords, sqlOwedRecords, sqlKnownRecords,
})

// probe has the server analyze every statement, so that Open rejects a ledger with other columns
// rather than one statement failing later. Each is an SQL PREPARE that the same message deallocates:
// nothing may stay in a session of a pooler. All are one message.
func (d *dialect) probe(ctx context.Context, ledger pool) error {
	tx, err := ledger.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("inbox: open: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var all strings.Builder
	for _, statement := range ledgerStatements {
		all.WriteString("PREPARE depositpay_probe AS " + d.words(statement) + "; DEALLOCATE depositpay_probe;\n")
	}
	if _, err := tx.ExecContext(ctx, all.String()); err != nil {
		return d.probeError(err)
	}
	return nil
}

func (d *dialect) probeError(err error) error {
	switch state := sqlState(err); {
	case state == "42501":
		return fmt.Errorf("inbox: open: the role may not use the ledger's tables; GRANT SELECT, INSERT, UPDATE and DELETE on them to it: %w", err)
	case strings.HasPrefix(state, "42"):
		return errors.Join(fmt.Errorf("%w: the tables have version %d, but not its columns; "+
			"an unreleased version of this code made them, or somebody changed them; use another Config.TablePrefix, or change them to what MigrationSQL says", ErrSchema, schemaVersion), err)
	}
	return fmt.Errorf("inbox: open: %w", err)
}
