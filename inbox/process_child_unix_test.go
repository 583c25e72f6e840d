//go:build unix

package inbox_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// childVariable makes this test binary a process of its own; see childConfig.
const childVariable = "DEPOSITPAY_TEST_INBOX_CHILD"

// childConfig is what a child is to do. It says "ready" when it begins, and ends when its
// standard input does: it never outlives the test.
type childConfig struct {
	DSN, SQLite string        // one of them
	Disk        string        // mount a small disk here, on Linux
	Lease       time.Duration // 0: the default
	Concurrency int
	Run         bool // run handlers
	Slow        bool // some handlers take longer than the lease
	Hold        hold // say "held" there, once, and wait for a line
	Mutant      mutant

	// Accept, if set, makes the child accept the payments First, First+1, … below Last and
	// repeats of them, and say "ack N" after each.
	Accept      bool
	First, Last int
}

type hold string

const (
	holdHandler  hold = "handler"   // in the handler, its effect written and not committed
	holdFence    hold = "fence"     // after the claim, before the fence
	holdHint     hold = "hint"      // hints written and not committed
	holdFullDisk hold = "full disk" // see fullDisk
)

// mutant is a way of doing it wrong, to see that the tests notice.
type mutant string

const (
	// noCondition drops the fence's conditions: it touches its row in any case.
	noCondition mutant = "no condition"
	// doneAtEnd marks "done" after the handler and does not look whether that touched a
	// row, as job engines do.
	doneAtEnd mutant = "done at the end"
)

func init() {
	child.Main(childVariable, func(cfg childConfig) error { return (&worker{childConfig: cfg}).main() })
}

// worker is an inbox in its own process, and what the tests have it do.
type worker struct {
	childConfig
	lines  chan string
	held   sync.Once
	hinted atomic.Bool // a hint is written, and the next commit is that of the hint
	ledger *sql.DB
}

// wait says that the child has come to a place, the first time, and waits there.
func (c *worker) wait(here hold) {
	if c.Hold != here {
		return
	}
	c.held.Do(func() {
		child.PrintLine("held")
		<-c.lines
	})
}

func (c *worker) main() error {
	c.lines = make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			c.lines <- in.Text()
		}
		os.Exit(0) // the test is over, or killed
	}()
	if c.Disk != "" {
		if err := mountDisk(c.Disk); err != nil {
			child.PrintLine("no disk:", err)
			return err
		}
	}
	if c.Hold == holdFullDisk {
		return c.fullDisk()
	}
	box, err := c.open()
	if err != nil {
		return err
	}
	child.PrintLine("ready")
	ctx := context.Background()
	if c.Run {
		go func() {
			if err := box.Run(ctx); err != nil {
				panic(err)
			}
		}()
	}
	if c.Hold == holdHint {
		return errors.Join(box.Webhook().RecordHint(ctx, nthPayment(0).ID), errors.New("it was to be stopped here"))
	}
	if c.Accept {
		c.accept(ctx, box)
	}
	if c.Hold != "" {
		select {} // the lines are for the one who is held
	}
	for range c.lines { // until standard input ends
		if err := c.idle(ctx, box); err != nil {
			return err
		}
	}
	return nil
}

// idle says so when all payments are done: nobody else may look into an SQLite ledger.
func (c *worker) idle(ctx context.Context, box *inbox.Inbox) error {
	for {
		// What is accepted and not in the ledger yet is there after a reconciliation.
		if _, err := box.Reconcile(ctx); err != nil {
			return err
		}
		status, err := box.Status(ctx)
		if err != nil {
			return err
		}
		if len(status.Count) == 1 && status.Count[inbox.StageDone] > 0 {
			child.PrintLine("idle")
			return nil
		}
		<-time.After(10 * time.Millisecond)
	}
}

func (c *worker) open() (*inbox.Inbox, error) {
	cfg := inbox.Config{
		Client: nobody{}, Handler: c.handle, AcceptUnknown: true, Concurrency: max(1, c.Concurrency),
		HandlerTimeout: time.Minute, MaxAttempts: 1000, BackoffMin: time.Millisecond, BackoffMax: 50 * time.Millisecond,
		ReconcileEvery: -1, Logger: slog.New(slog.DiscardHandler),
	}
	var err error
	if c.SQLite != "" {
		if cfg.SQLite, err = sqlite.Open(c.SQLite, nil); err != nil {
			return nil, err
		}
		c.ledger = cfg.SQLite.Writer
	} else {
		pg, err := pgx.ParseConfig(c.DSN)
		if err != nil {
			return nil, err
		}
		cfg.DB = sql.OpenDB(c.connector(*pg))
		c.ledger = cfg.DB
	}
	return inbox.Open(context.Background(), inbox.WithLease(cfg, c.Lease))
}

// handle writes one effect. It does not look at ctx, as the handlers of some merchants.
func (c *worker) handle(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	ctx = context.WithoutCancel(ctx)
	if c.Slow {
		wait := time.Duration(rand.Int64N(int64(6 * time.Millisecond)))
		if rand.IntN(12) == 0 {
			wait = c.Lease*3/4 + time.Duration(rand.Int64N(int64(2*c.Lease)))
		}
		<-time.After(wait)
	}
	err := grant(ctx, tx, p)
	if err != nil {
		return err
	}
	c.wait(holdHandler)
	if c.Mutant == doneAtEnd {
		_, err = tx.ExecContext(ctx, inbox.SQL(fmt.Sprintf(`UPDATE {p}payments SET reason = '', stage = {done} WHERE stage = {ready} AND payment_id = '%s'`, p.ID)))
	}
	return err
}

// accept accepts what it was told to, each payment once and a third of them again, and
// says so only once Accept has returned.
func (c *worker) accept(ctx context.Context, box *inbox.Inbox) {
	next := make(chan int)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for n := range next {
				deliver := box.Webhook().Accept
				if n%2 == 0 {
					deliver = box.Poller().Accept
				}
				if err := deliver(ctx, nthPayment(n)); err != nil {
					child.PrintLine("refused", n, strings.ReplaceAll(err.Error(), "\n", " "))
					continue
				}
				child.PrintLine("ack", n)
			}
		})
	}
	for n := c.First; n < c.Last; n++ {
		next <- n
		if rand.IntN(3) == 0 {
			next <- rand.IntN(n + 1)
		}
	}
	close(next)
	callers.Wait()
	child.PrintLine("accepted all")
}

var (
	fenceStart = inbox.SQL("UPDATE {p}payments SET stage = {done}")
	fenceEnd   = inbox.SQL(" WHERE payment_id = $1 AND attempt = $2 AND stage + 0 = {ready}")
	hintPart   = inbox.SQL("INSERT INTO {p}payments (payment_id, stage, serialized, confirm,")
)

// connector gives connections that the worker may hold up, and that break the inbox's
// statements if it is a mutant: the inbox itself needs no hook for either.
func (c *worker) connector(pg pgx.ConnConfig) pgtest.Rewriting {
	return pgtest.Rewriting{
		Connector: stdlib.GetConnector(pg),
		Exec: func(statement string) string {
			if statement == "COMMIT" && c.hinted.Load() {
				c.wait(holdHint)
			}
			if !strings.HasPrefix(statement, fenceStart) {
				return statement
			}
			c.wait(holdFence)
			return c.brokenFence(statement)
		},
		Query: func(statement string) string {
			if strings.HasPrefix(statement, "WITH") && strings.Contains(statement, hintPart) { // not the probe of Open
				c.hinted.Store(true)
			}
			return statement
		},
	}
}

func (c *worker) brokenFence(fence string) string {
	broken := fence
	switch c.Mutant {
	case noCondition:
		broken = strings.Replace(fence, fenceEnd, " WHERE payment_id = $1 AND $2::bigint IS NOT NULL", 1)
	case doneAtEnd:
		broken = "SELECT $1::text, $2::bigint"
	}
	if (c.Mutant != "") != (broken != fence) {
		panic("the fence reads otherwise now: " + fence)
	}
	return broken
}
