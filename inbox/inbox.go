package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// Inbox is the ledger of one merchant. Its methods may be called at once from many
// goroutines, and many processes may have an Inbox on one PostgreSQL database.
type Inbox struct {
	cfg    Config
	d      *dialect
	store  store
	intake intake
	asking *group[*lookup]

	standings standings
	closing   func() error

	hintLimit  *rate.Limiter // confirms of ids that this merchant did not create
	ownLimit   *rate.Limiter // confirms of ids that this merchant created
	sweepLimit *rate.Limiter // of these, the ones of a reconciliation, which leaves the others a share

	wakes      chan struct{} // something is ready
	reconciles chan struct{} // a loss is possible

	mu      sync.Mutex
	running bool
	polls   pollLines

	places     *group[*newHint]
	noting     atomic.Int64   // hints that have a place and may not be in the ledger yet
	evicted    atomic.Int64   // hints given up
	turnedAway atomic.Int64   // new ones that were refused
	sayFull    rate.Sometimes // about these
	sayToken   rate.Sometimes // that no token works

	recovered chan struct{} // closed when what dead pollers left has been taken in
	recovery  sync.Once     // closes it

	failing  atomic.Bool // the last group was not stored
	outage   atomic.Bool // one was not, and no reconciliation has been asked for since
	kept     kept        // what was confirmed meanwhile
	offering sync.Mutex
	probing  *group[struct{}]
}

const (
	groupMax  = 256
	hintDelay = 15 * time.Second // the webhook that brought the hint confirms it first
	ownRate   = 50
	sweepRate = 40
	// commitTimeout bounds one group's commit, anyone who waits for it.
	commitTimeout = 20 * time.Second
	lookupTimeout = 5 * time.Second
)

// Open checks cfg and the database, brings the schema up to date and returns the
// Inbox. It starts nothing; see Run. It refuses a database that may lose what it
// acknowledged, with the reason.
func Open(ctx context.Context, cfg Config) (*Inbox, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	b := &Inbox{
		cfg:        cfg,
		hintLimit:  rate.NewLimiter(rate.Limit(cfg.ConfirmRate), max(1, int(cfg.ConfirmRate))),
		ownLimit:   rate.NewLimiter(ownRate, ownRate),
		sweepLimit: rate.NewLimiter(sweepRate, sweepRate),
		wakes:      make(chan struct{}, 1),
		reconciles: make(chan struct{}, 1),
		sayFull:    rate.Sometimes{Interval: time.Minute},
		sayToken:   rate.Sometimes{Interval: time.Hour},
		recovered:  make(chan struct{}),
	}
	name := DialectPostgreSQL
	if cfg.SQLite != nil {
		name = DialectSQLite
	}
	b.d = newDialect(name, cfg.TablePrefix, cfg.SerializeByIdentifier)
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	b.intake = newIntake(b)
	b.asking = newGroup(groupMax, b.lookUp)
	b.probing = newGroup(groupMax, b.probe)
	b.places = newGroup(groupMax, b.givePlaces)
	b.closing = sync.OnceValue(func() error {
		b.probing.close()
		b.places.close()
		unstored := b.closeKept()
		b.intake.close()
		b.asking.close()
		return errors.Join(unstored, b.store.close())
	})
	return b, nil
}

func (b *Inbox) prepare(ctx context.Context) error {
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
		// First, because what comes next would wait for ever if the pool has none left.
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
func (b *Inbox) prepareLedger(ctx context.Context, ledger pool) error {
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

// Close waits for acceptances under way and refuses later ones. Call it after Run has
// returned. It does not close the database. If confirmed payments could not be stored and
// cannot be now, the log names them and the error is ErrUnstored. A second Close changes nothing
// and returns the result of the first.
func (b *Inbox) Close() error { return b.closing() }

// wake tells Run that there may be something to do.
func (b *Inbox) wake() {
	select {
	case b.wakes <- struct{}{}:
	default:
	}
}

// Accept takes custody of a verified payment: it returns nil once the record is
// durable. It may be called any number of times for one payment, by both channels:
// the payment is handed over once. It satisfies webhook.Sink.
//
// A payment that cannot be stored now is kept in memory as well: Run stores it as soon as the
// database is back. The error stays an error, since a kill would lose the memory.
//
// A record without an id cannot be told from another one and goes to review. One that
// is not COMPLETE is refused with payments.ErrNotComplete. What else is wrong with a
// payment is found before it is handed over.
func (b *Inbox) Accept(ctx context.Context, p payments.Payment) error {
	return b.accept(ctx, p, ChannelWebhook)
}

func (b *Inbox) accept(ctx context.Context, p payments.Payment, channel Channel) error {
	if p.Status != payments.StatusComplete {
		return fmt.Errorf("inbox: payment %s has status %q: %w", p.ID, p.Status, payments.ErrNotComplete)
	}
	o, err := recordOp(p, channel)
	if err != nil {
		return fmt.Errorf("inbox: payment %s cannot be written down: %w", p.ID, err)
	}
	if p.ID == uuid.Nil {
		o.Kind, o.ID, o.Reason = opReview, "none-"+uuid.NewString(), ReasonNoID
	}
	standing, _ := b.standings.get(p.ID)
	o.owed = standing == webhook.StandingExpected
	if err := b.put(ctx, o); err != nil {
		if channel == ChannelPoll { // the poller keeps it
			return err
		}
		return b.keep(o, err)
	}
	b.kept.remove(o)
	b.rememberHandled(o)
	return nil
}

func (b *Inbox) rememberHandled(o op) {
	if id, err := uuid.Parse(o.ID); err == nil && o.Kind == opRecord {
		b.standings.add(id, webhook.StandingHandled)
	}
}

// AcceptPolled is Accept for a payment that a poll returned; it satisfies
// poller.Journal.
func (b *Inbox) AcceptPolled(ctx context.Context, p payments.Payment) error {
	return b.accept(ctx, p, ChannelPoll)
}
