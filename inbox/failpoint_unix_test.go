//go:build unix

package inbox_test

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// The steps that are not in the inbox, after those that are.
const (
	stepAnswered     = inbox.Steps + iota // a poll's answer is in memory alone
	stepJournaled                         // the answer is in the poll journal
	stepNoted                             // a webhook's id is written down
	stepConfirmed                         // a confirm's answer is in memory alone
	stepAcknowledged                      // the webhook was answered 200
	allSteps
	noStep = -1
)

// route is how a payment comes to a step.
type route struct {
	name string
	// One of them: the webhook is delivered once and never again, as that of a payment
	// which the confirm has completed; the payment is polled; reconciliation asks.
	webhook, poll, reconcile bool
	intake                   bool // the step comes before the inbox runs
	sqlite                   bool // it is a step of SQLite alone
	// A killed process leaves the payment with nobody but the service, which has completed
	// it. It comes back by its id if that is known, and is reported in any case.
	inNobodysHands bool
}

// routes has every step: one that is not here fails the test.
var routes = map[int][]route{
	stepAnswered:  {{name: "Polled", poll: true, intake: true, inNobodysHands: true}},
	stepJournaled: {{name: "Polled", poll: true, intake: true}},
	stepNoted:     {{name: "Webhook", webhook: true, intake: true}},
	stepConfirmed: {
		{name: "Webhook", webhook: true, intake: true},
		{name: "Reconciled", reconcile: true},
	},
	stepAcknowledged:   {{name: "Webhook", webhook: true, intake: true}},
	inbox.StepAccepted: {{name: "Webhook", webhook: true, intake: true}, {name: "Polled", poll: true, intake: true}},
	inbox.StepClaimed:  {{name: "Webhook", webhook: true}},
	inbox.StepFenced:   {{name: "Polled", poll: true}},
	inbox.StepHandled:  {{name: "Webhook", webhook: true}},
	inbox.StepDone:     {{name: "Webhook", webhook: true}},
	inbox.StepFolded:   {{name: "Webhook", webhook: true, sqlite: true}, {name: "Polled", poll: true, sqlite: true}},
}

var stepNames = map[int]string{
	stepAnswered: "Answered", stepJournaled: "Journaled", stepNoted: "Noted", stepConfirmed: "Confirmed", stepAcknowledged: "Acknowledged",
	inbox.StepAccepted: "Accepted", inbox.StepClaimed: "Claimed", inbox.StepFenced: "Fenced", inbox.StepHandled: "Handled",
	inbox.StepDone: "Done", inbox.StepFolded: "Folded",
}

// TestFailpoints: a merchant's process is killed, fails or stands still at every step, on
// both databases. Afterwards another process goes on. What the service has completed is
// granted exactly once.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	actions := []action{kill, fail, delay}
	if racing.On { // it makes each process slow to start; make test runs all without it, too
		actions = actions[:1]
	}
	for step := range allSteps {
		require.NotEmpty(t, stepNames[step], "step %d has no name", step)
		require.NotEmpty(t, routes[step], "nothing comes to the step %s", stepNames[step])
	}
	for step := range allSteps {
		for _, r := range routes[step] {
			for _, what := range actions {
				for _, postgres := range []bool{false, true} {
					if postgres && r.sqlite {
						continue
					}
					name := map[bool]string{false: "SQLite", true: "PostgreSQL"}[postgres]
					t.Run(strings.Join([]string{name, stepNames[step], r.name, string(what)}, "/"), func(t *testing.T) {
						t.Parallel()
						newTrouble(t, step, r, what, postgres).test()
					})
				}
			}
		}
	}
}

// trouble is one case.
type trouble struct {
	t      *testing.T
	step   int
	route  route
	action action
	mock   *mockserver.Server
	books  books
	cfg    merchantConfig
	id     string
}

// troubleLease is long enough for a handler that has nothing to do, most of the time.
const troubleLease = 300 * time.Millisecond

func newTrouble(t *testing.T, step int, r route, what action, postgres bool) *trouble {
	c := &trouble{t: t, step: step, route: r, action: what, mock: mockserver.RunT(t)}
	c.cfg = merchantConfig{URL: c.mock.URL(), Token: c.mock.Token(), Lease: troubleLease, Step: step, Action: what}
	if postgres {
		db, books := newBooks(t)
		c.cfg.DSN, c.books = db.DSN, books
		return c
	}
	c.cfg.SQLite = filepath.Join(t.TempDir(), "shop.db")
	c.withLedger(func(b books) {
		require.NoError(t, inbox.Migrate(t.Context(), b.db, inbox.DialectSQLite, ""))
		b.do(effectsTable)
	})
	return c
}

// withLedger opens the books of SQLite while no process has them.
func (c *trouble) withLedger(look func(books)) {
	c.t.Helper()
	if c.cfg.SQLite == "" {
		look(c.books)
		return
	}
	db, err := sqlite.Open(c.cfg.SQLite, nil)
	require.NoError(c.t, err)
	look(books{c.t, db.Writer})
	require.NoError(c.t, db.Close())
}

func (c *trouble) test() {
	first := c.begin()
	c.pay(first)
	switch {
	case c.route.webhook:
		first.command("deliver " + c.id)
	case c.route.poll:
		first.command("poll")
	}
	if !c.route.intake {
		if !c.route.reconcile {
			first.hear("offered")
		}
		first.command("run")
	}
	first.hear("reached")
	c.after(first).kill()
	c.withLedger(c.requireExact)
}

// pay has a payment paid. The merchant knows its id where it comes back by nothing else,
// and where the webhook is not the way.
func (c *trouble) pay(first *process) {
	c.t.Helper()
	own := c.route.reconcile || c.route.inNobodysHands || c.route.poll && c.action != kill
	if own {
		first.command("create order-1")
		c.id = first.hearAbout("created ")
	} else {
		client, err := payments.New(payments.Config{BaseURL: c.mock.URL(), Token: c.mock.Token(), MaxRetries: -1})
		require.NoError(c.t, err)
		defer client.CloseIdleConnections()
		created, err := client.Create(c.t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(1000)})
		require.NoError(c.t, err)
		c.id = created.PayToken.String()
	}
	_, err := c.mock.Deposit(c.id, mockserver.Deposit{Amount: 1000})
	require.NoError(c.t, err)
}

// after is what happens when the first process has come to its step: it ends, or goes on
// next to the second one where there can be two. The second one is returned when the
// payment is done.
func (c *trouble) after(first *process) *process {
	c.t.Helper()
	if c.action == kill {
		first.kill()
		if c.cfg.SQLite == "" { // it is dead for long
			c.books.do(`UPDATE depositpay_polls SET beat_at = 1`)
			c.books.do(`UPDATE depositpay_payments SET leased = 0`)
		}
	}
	var second *process
	if c.cfg.SQLite == "" {
		second = c.goOn()
		if c.action == delay {
			second.hear("settled") // and now the first one wakes up, and knows nothing of that
			first.command("release")
		}
	}
	if c.action != kill {
		if c.route.intake {
			first.command("run")
		}
		first.command("settle " + c.id)
		first.hear("settled")
		first.command("end")
		first.ended()
	}
	if second == nil || c.action != delay {
		if second == nil {
			second = c.goOn()
		}
		second.hear("settled")
	}
	return second
}

// goOn starts a process without trouble, which says "settled" in the end.
func (c *trouble) goOn() *process {
	c.t.Helper()
	c.cfg.Step = noStep
	p := c.begin()
	p.command("run")
	if c.route.poll {
		p.command("poll")
	}
	p.command("settle " + c.id)
	return p
}

func (c *trouble) requireExact(b books) {
	c.t.Helper()
	b.requireExact(1)
	require.Equal(c.t, 1, b.number(`SELECT count(*) FROM effects WHERE payment_id = '`+c.id+`'`))
	require.Zero(c.t, b.number(`SELECT count(*) FROM depositpay_receipts WHERE outcome IN ('differs', 'review', 'dead')`))
	if c.step == inbox.StepFolded {
		require.Zero(c.t, b.number(`SELECT count(*) FROM depositpay_receipts WHERE outcome = 'repeat'`), "what was accepted once took effect twice")
	}
	if c.action == kill && c.route.poll && c.route.intake {
		require.Positive(c.t, b.number(`SELECT count(*) FROM depositpay_polls WHERE closed_at IS NULL AND outcome <> ''`),
			"a process that dies while it polls is a possible loss, and reported")
	}
	if c.action == delay && c.step == inbox.StepClaimed && c.cfg.SQLite == "" {
		require.Greater(c.t, b.number(`SELECT attempt FROM depositpay_payments`), 1, "another process took over")
	}
}

func (c *trouble) begin() *process {
	c.t.Helper()
	cmd, err := child.Command(merchantVariable, c.cfg)
	require.NoError(c.t, err)
	p := &process{t: c.t, cmd: cmd, said: make(chan string, 16)}
	p.in, err = p.cmd.StdinPipe()
	require.NoError(c.t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, p.cmd.Start())
	c.t.Cleanup(p.kill)
	go func() {
		defer close(p.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.said <- lines.Text()
		}
	}()
	p.hear("ready")
	return p
}

func (p *process) command(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

// hearAbout returns the rest of the next line that begins so.
func (p *process) hearAbout(prefix string) string {
	p.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case line, ok := <-p.said:
			require.True(p.t, ok, "the process ended before it said %q", prefix)
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-limit.C:
			require.Fail(p.t, "the process does not say "+prefix)
		}
	}
}

// ended waits for the end of a process that was told to, and that had no reason to complain.
func (p *process) ended() {
	p.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case _, ok := <-p.said:
			if !ok {
				p.end.Do(func() {
					require.NoError(p.t, p.cmd.Wait())
					_ = p.in.Close()
				})
				return
			}
		case <-limit.C:
			require.Fail(p.t, "the process does not end")
		}
	}
}
