package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// core is what the parts of an Inbox share.
type core struct {
	cfg   Config
	d     *dialect
	store store

	wakes      chan struct{} // something is ready
	reconciles chan struct{} // a loss is possible
}

const (
	groupMax  = 256
	hintDelay = 15 * time.Second // the webhook that named the id confirms it first
	ownRate   = 50
	sweepRate = 40
	// commitTimeout bounds the commit of one group.
	commitTimeout = 20 * time.Second
	lookupTimeout = 5 * time.Second
)

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

// wake makes Run look for work.
func (b *core) wake() {
	select {
	case b.wakes <- struct{}{}:
	default:
	}
}
