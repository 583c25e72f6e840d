//go:build unix

package torture

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/pgwire"
)

// campaign is one run.
type campaign struct {
	t       testing.TB
	seed    uint64
	length  time.Duration
	profile profile
	plan    plan

	service   *service
	customers *customers
	merchants []*merchant
	cluster   *pgtest.Cluster // of PostgreSQL
	wires     wires
	proxy     *pgwire.Proxy // by which merchants reach it
	path      string        // of SQLite
	ledger    *sql.DB       // for reading
	ambiguous reports
	told      told
	soaks     bool   // the merchants drop what they received once it is old, and settle losses
	away      []span // of the database, under mu
	neglected []finding
	waits     waits
	turn      atomic.Int64
	did       map[trouble]int // under mu
	mu        sync.Mutex
	failed    chan error
}

// check ends the campaign if something that is not under test fails.
func (c *campaign) check(err error) {
	if err != nil {
		select {
		case c.failed <- err:
		default:
		}
	}
}

// newCampaign starts the service and its customers.
func newCampaign(t testing.TB, seed uint64, length time.Duration, p profile) *campaign {
	t.Helper()
	c := &campaign{t: t, seed: seed, length: length, profile: p, did: map[trouble]int{}, failed: make(chan error, 1)}
	var err error
	c.service, err = newService(c.toMerchants())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.service.Close()) })
	c.customers, err = newCustomers(c)
	require.NoError(t, err)
	return c
}

// run runs a whole campaign: faults, recovery, comparison.
func run(t testing.TB, seed uint64, length time.Duration, p profile) *result {
	t.Helper()
	c := newCampaign(t, seed, length, p)
	c.plan = newPlan(seed, length, p)
	if !p.uses(inbox.ChannelWebhook) {
		require.NoError(t, c.service.SetWebhook(c.service.Token(), ""))
	}
	c.prepare()
	c.open()
	began := time.Now()
	watched, cancel := context.WithCancel(t.Context())
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(watched) })
	c.troubled()
	troubled := time.Since(began)
	c.unaided()
	cancel() // what happens when merchants begin again is not by themselves
	watch.Wait()
	c.calm()
	c.sound()
	r := c.judge()
	c.sound()
	r.Length, r.Troubled, r.Took = length.Seconds(), troubled.Seconds(), time.Since(began).Seconds()
	c.close()
	return r
}

// prepare creates the database and its tables.
func (c *campaign) prepare() {
	tables := []string{effectsTable, refusedTable}
	if c.profile.Database == "sqlite" {
		c.path = filepath.Join(c.t.TempDir(), "shop.db")
		c.alone(func(db *sql.DB) {
			require.NoError(c.t, inbox.Migrate(c.t.Context(), db, inbox.DialectSQLite, ""))
			c.do(db, tables...)
		})
		return
	}
	c.cluster = pgtest.NewCluster(c.t)
	var err error
	c.ledger, err = sql.Open("pgx", c.cluster.DSN("postgres"))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, c.ledger.Close()) })
	if c.profile.Cut+c.profile.Stall > 0 {
		c.proxy, err = pgwire.New(c.cluster.DSN("postgres"), c.wires.hook)
		require.NoError(c.t, err)
		c.t.Cleanup(func() { require.NoError(c.t, c.proxy.Close()) })
	}
	require.NoError(c.t, inbox.Migrate(c.t.Context(), c.ledger, inbox.DialectPostgreSQL, ""))
	c.do(c.ledger, tables...)
}

// alone opens the ledger while no merchant runs.
func (c *campaign) alone(fn func(*sql.DB)) {
	if c.cluster != nil {
		fn(c.ledger)
		return
	}
	ledger, err := sqlite.Open(c.path, nil)
	require.NoError(c.t, err)
	fn(ledger.Writer)
	require.NoError(c.t, ledger.Close())
}

func (c *campaign) do(db *sql.DB, statements ...string) {
	for _, s := range statements {
		_, err := db.ExecContext(c.t.Context(), s)
		require.NoError(c.t, err, s)
	}
}

// open starts the merchants.
func (c *campaign) open() { c.begin(func() mutant { return c.profile.Mutant }) }

// begin starts the merchants, of which one polls; next returns the mutant of each.
func (c *campaign) begin(next func() mutant) {
	for i := range c.profile.Merchants {
		cfg := childConfig{
			Service: c.service.URL(), Token: c.service.Token(), SQLite: c.path, Mutant: next(),
			Poll: i == 0 && c.profile.uses(inbox.ChannelPoll), Webhook: c.profile.uses(inbox.ChannelWebhook),
			Products: c.customers.catalogue(), OnlyCreated: c.profile.OnlyCreated,
		}
		if c.cluster != nil {
			cfg.DSN = c.cluster.DSN("postgres")
		}
		if c.proxy != nil {
			cfg.DSN = c.proxy.DSN()
		}
		c.merchants = append(c.merchants, &merchant{cfg: cfg, ambiguous: &c.ambiguous, failed: c.check})
	}
	for _, m := range c.merchants {
		require.NoError(c.t, m.start())
	}
	c.t.Cleanup(c.close)
	c.awaitReady()
	if c.cluster == nil {
		c.openReader()
	}
}

// close kills the processes that still run.
func (c *campaign) close() {
	for _, m := range c.merchants {
		m.mu.Lock()
		if m.now != nil {
			_ = m.end(syscall.SIGKILL)
		}
		m.mu.Unlock()
	}
}

func (c *campaign) awaitReady() {
	c.await(time.Minute, "the merchants are not ready", func() bool {
		for _, m := range c.merchants {
			if m.address.Load() == nil {
				return false
			}
		}
		return true
	})
}

// sound fails the test if the campaign itself has failed.
func (c *campaign) sound() {
	c.t.Helper()
	select {
	case err := <-c.failed:
		c.fail(err.Error())
	default:
	}
}

// fail ends the campaign and logs what is known so far.
func (c *campaign) fail(why string) {
	c.t.Helper()
	c.t.Logf("the campaign itself failed: %s; seed %d", why, c.seed)
	if c.ledger != nil {
		c.t.Log("what is known by then:\n" + c.judge().String())
	}
	c.t.FailNow()
}

// await waits until ok, and fails the campaign at the limit.
func (c *campaign) await(limit time.Duration, why string, ok func() bool) {
	c.t.Helper()
	end := time.After(limit)
	for !ok() {
		select {
		case err := <-c.failed:
			c.fail(err.Error())
		case <-end:
			c.fail(why)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
