//go:build linux

package powerloss_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/pragma"
	"github.com/depositpay/depositpay-go/payments"
)

// opener opens a ledger: sqlite.Open, or a mutant of it.
type opener func(path string) (*inbox.SQLite, error)

// shop is a merchant whose machine loses its power now and then. What it was told is kept
// apart from the machine.
type shop struct {
	seed uint64
	open opener
	cfg  inbox.Config
	path string
	disk *disk
	rng  *rand.Rand

	closed atomic.Bool // the day is over

	mu   sync.Mutex
	next int
	told map[uuid.UUID]inbox.Stage // the least stage that was acknowledged
}

func newShop(t *testing.T, seed uint64, open opener, unsafe bool) *shop {
	dir := t.TempDir()
	s := &shop{
		seed: seed, open: open, path: filepath.Join(dir, "shop.db"), rng: rand.New(rand.NewPCG(seed, 1)),
		disk: newDisk(dir, rand.New(rand.NewPCG(seed, 2))), told: map[uuid.UUID]inbox.Stage{},
		cfg: inbox.Config{
			Client: nobody{}, Handler: grant, AcceptUnknown: true, AllowUnsafe: unsafe, ReconcileEvery: -1,
			BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		},
	}
	t.Cleanup(s.disk.forget)
	return s
}

// grant writes one effect.
func grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO effects (payment_id) VALUES (?1)`, p.ID.String())
	return err
}

// day opens the shop, works until the power goes, and leaves what the disk makes of it.
// steps is how many steps the disk gets. On some days the shop closes before that, so that
// the power goes while it is closing, or just after.
func (s *shop) day(ctx context.Context, steps int) error {
	s.disk.arm(steps)
	closing := make(chan struct{})
	if s.rng.IntN(3) == 0 {
		s.disk.call(1+s.rng.IntN(steps), closing)
	}
	err := s.with(func(db *inbox.SQLite, box *inbox.Inbox) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		defer s.closed.Store(true)
		s.closed.Store(false)
		if _, err := db.Writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS effects (payment_id text NOT NULL)`); err != nil {
			return nil // the power went
		}
		all.Go(func() { _ = box.Run(ctx) })
		for range 1 + s.rng.IntN(4) {
			all.Go(func() { s.serve(ctx, box) })
		}
		all.Go(func() { s.watch(ctx, box) })
		all.Go(func() { s.checkpoint(ctx, db) })
		select {
		case <-s.disk.off:
			return nil
		case <-closing:
			return nil
		case <-time.After(time.Hour):
			return errors.New("the power did not go within an hour")
		}
	})
	s.disk.cut()
	return errors.Join(err, s.disk.lose())
}

// with opens and closes the shop. Only the power may fail it: what else goes wrong is an error.
func (s *shop) with(work func(*inbox.SQLite, *inbox.Inbox) error) (err error) {
	db, err := s.open(s.path)
	if err != nil {
		return s.unlessOff("open the ledger", err)
	}
	defer func() { err = errors.Join(err, s.unlessOff("close the ledger", db.Close())) }()
	cfg := s.cfg
	cfg.SQLite = db
	box, err := inbox.Open(context.Background(), cfg)
	if err != nil {
		return s.unlessOff("open the inbox", err)
	}
	defer func() { err = errors.Join(err, s.unlessOff("close the inbox", box.Close())) }()
	return work(db, box)
}

func (s *shop) unlessOff(what string, err error) error {
	if err == nil || s.off() && !errors.Is(err, sqlite.ErrInUse) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s *shop) off() bool {
	select {
	case <-s.disk.off:
		return true
	default:
		return false
	}
}

// over tells that nothing new is begun.
func (s *shop) over() bool { return s.off() || s.closed.Load() }

// serve accepts one thing after another until the power goes.
func (s *shop) serve(ctx context.Context, box *inbox.Inbox) {
	for !s.over() {
		n := s.number()
		p := nthPayment(s.seed, n)
		if n%5 == 0 { // an id that a webhook named, not confirmed yet
			if box.Webhook().RecordHint(ctx, p.ID) == nil {
				s.tell(p.ID, inbox.StageHint)
			}
			continue
		}
		accept := box.Webhook().Accept
		if n%2 == 0 {
			accept = box.Poller().Accept
		}
		if accept(ctx, p) == nil {
			s.tell(p.ID, inbox.StageReady)
		}
	}
}

// checkpoint moves the content of the -wal files, which by itself happens too rarely.
func (s *shop) checkpoint(ctx context.Context, db *inbox.SQLite) {
	intake := pool(s.path+"-intake", pragma.Writer, "FULL")
	defer func() { _ = intake.Close() }()
	for !s.over() {
		for _, file := range []*sql.DB{db.Writer, intake} {
			_, _ = file.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// watch sees what is done, as a person at the desk would.
func (s *shop) watch(ctx context.Context, box *inbox.Inbox) {
	for !s.over() {
		for e, err := range box.List(ctx, inbox.Filter{Stages: []inbox.Stage{inbox.StageDone}}) {
			if err != nil {
				return
			}
			s.tell(uuid.MustParse(e.Key), inbox.StageDone)
		}
		select {
		case <-time.After(time.Millisecond): // the driver waits for locks by the clock of the bubble
		case <-ctx.Done():
		}
	}
}

func (s *shop) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

func (s *shop) tell(id uuid.UUID, stage inbox.Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[id] = max(s.told[id], stage)
}

func nthPayment(seed uint64, n int) payments.Payment {
	return payments.Payment{
		ID: uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d %d", seed, n)), Identifier: fmt.Sprint("order-", n), Status: payments.StatusComplete,
		Method: payments.MethodDeposit, PaidAmount: payments.NewAmount(int64(n)), VerifiedAt: time.Unix(1, 0).UTC(),
	}
}

// nobody is a service that cannot be reached.
type nobody struct{}

var errNobody = errors.New("nobody answers")

func (nobody) Create(context.Context, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, errNobody
}

func (nobody) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, errNobody
}

func (nobody) Decode([]byte) (payments.Payment, error) { return payments.Payment{}, errNobody }
