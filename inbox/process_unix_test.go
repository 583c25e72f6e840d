//go:build unix

package inbox_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

// process is a running child.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	said chan string // what it says besides; closed at its end
	end  sync.Once

	// After kill:
	acks    []int    // the payments whose acceptance it acknowledged
	refused []string // and those that failed, with the error
}

// begin starts a child and returns once it is ready. It is killed when the test ends.
func begin(t *testing.T, cfg childConfig) *process {
	t.Helper()
	cmd, err := child.Command(childVariable, cfg)
	require.NoError(t, err)
	p := &process{t: t, cmd: cmd, said: make(chan string, 16)}
	if cfg.Disk != "" {
		p.cmd.SysProcAttr = ownMounts()
	}
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	go func() {
		defer close(p.said)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return // a line that was cut was not said
			}
			line = strings.TrimSuffix(line, "\n")
			if n, ok := strings.CutPrefix(line, "ack "); ok {
				number, err := strconv.Atoi(n)
				if err != nil {
					panic(err)
				}
				p.acks = append(p.acks, number)
			} else if strings.HasPrefix(line, "refused ") {
				p.refused = append(p.refused, line)
			} else {
				p.said <- line
			}
		}
	}()
	p.hear("ready")
	return p
}

// hear waits until the child says something.
func (p *process) hear(what string) {
	p.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case line, ok := <-p.said:
			require.True(p.t, ok, "the child ended before it said %q", what)
			if line == what {
				return
			}
		case <-limit.C:
			require.Fail(p.t, "the child does not say "+what)
		}
	}
}

// tell ends a hold.
func (p *process) tell() {
	p.t.Helper()
	_, err := io.WriteString(p.in, "go\n")
	require.NoError(p.t, err)
}

// stop stops p and returns when it stands still: a signal takes its time, and whatever
// the process waits for may come first.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		require.NoError(p.t, err)
		require.True(p.t, status.Stopped())
		return
	}
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill is kill -9, also for a stopped process.
func (p *process) kill() {
	p.end.Do(func() {
		_ = p.cmd.Process.Kill()
		for range p.said { // Wait would cut off what is on its way
			continue
		}
		_ = p.cmd.Wait()
		_ = p.in.Close()
	})
}

func (b books) effectsBy(p *process, n int) int {
	return b.number(`SELECT count(*) FROM effects WHERE payment_id = $1 AND pid = $2`, nthPayment(n).ID.String(), p.cmd.Process.Pid)
}

// TestProcesses: several processes on one PostgreSQL accept and grant the same payments,
// and are killed and stopped beyond their lease all the while.
func TestProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		processes, n      int
		shortN, leastHits int
	}{{"Two", 2, 1000, 200, 3}, {"Eight", 8, 600, 200, 3}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() || racing.On {
				c.n = c.shortN
			}
			testProcesses(t, c.processes, c.n, c.leastHits)
		})
	}
}

func testProcesses(t *testing.T, processes, n, leastHits int) {
	db, books := newBooks(t)
	cfg := childConfig{
		DSN: db.DSN, Lease: 400 * time.Millisecond, Concurrency: 4, Run: true, Slow: true,
		Accept: true, Last: n / 2, // these come from all of them, the rest from here
	}
	children := make([]*process, processes)
	for i := range children {
		children[i] = begin(t, cfg)
	}
	box := accepting(t, inbox.Config{DB: db.DB})
	accepted := make(chan error, 1)
	go func() {
		for _, i := range rand.Perm(n) {
			for range 1 + i%3 {
				if err := box.Webhook().Accept(context.Background(), nthPayment(i)); err != nil {
					accepted <- err
					return
				}
			}
		}
		accepted <- nil
	}()

	began, kills, stops := time.Now(), 0, 0
	var refused []string
	for books.done() < n || kills < leastHits || stops < leastHits {
		require.Less(t, time.Since(began), 2*time.Minute, "done: %d of %d", books.done(), n)
		<-time.After(150 * time.Millisecond)
		i := rand.IntN(processes)
		if rand.IntN(2) == 0 {
			children[i].kill()
			refused = append(refused, children[i].refused...)
			children[i] = begin(t, cfg)
			kills++
		} else {
			p := children[i]
			p.signal(syscall.SIGSTOP)
			time.AfterFunc(700*time.Millisecond, func() { p.signal(syscall.SIGCONT) })
			stops++
		}
	}
	require.NoError(t, <-accepted)
	// What was stopped gets the time to do wrong.
	for _, p := range children {
		p.signal(syscall.SIGCONT)
	}
	<-time.After(1500 * time.Millisecond)
	for _, p := range children {
		p.kill()
		refused = append(refused, p.refused...)
	}
	t.Logf("%d processes, %d payments in %v: %d killed, %d stopped beyond the lease; claimed again %d, most often %d times; %d acceptances refused %.3q",
		processes, n, time.Since(began).Round(time.Second), kills, stops,
		books.number(`SELECT count(*) FROM depositpay_payments WHERE attempt > 1`), books.number(`SELECT max(attempt) FROM depositpay_payments`), len(refused), refused)
	books.requireExact(n)
	require.Empty(t, refused, "the database was up all the time")
}

// TestStopped: a process that is stopped beyond its lease and continued does not commit
// what another one has done meanwhile. There are three moments to stop at, and the rule
// that saves the day is another one each time.
func TestStopped(t *testing.T) {
	t.Parallel()
	t.Run("BeforeTheFence", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, 1, stoppedBeforeTheFence(t, ""))
	})
	t.Run("BeforeTheFence/ClaimedAgain", func(t *testing.T) {
		t.Parallel()
		// Another one has it, and has not begun.
		require.Zero(t, claimIsOver(t, `attempt = attempt + 1`))
	})
	t.Run("BeforeTheFence/SetAside", func(t *testing.T) {
		t.Parallel()
		require.Zero(t, claimIsOver(t, `stage = {dead}`))
	})
	t.Run("InTheHandler", testStoppedInTheHandler)
	t.Run("InTheHandlerAndContinuedInTime", testContinuedInTime)
	// The tests of the tests: without the fence, a payment is granted twice.
	t.Run("Mutant/NoCondition", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, 2, stoppedBeforeTheFence(t, noCondition), "the mutant must be seen")
	})
	t.Run("Mutant/DoneAtTheEnd", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, 2, stoppedMutantInTheHandler(t), "the mutant must be seen")
	})
}

// stopped starts a process and stops it while it has the payment 0, at the given place.
func stopped(t *testing.T, dsn string, lease time.Duration, at hold, m mutant) *process {
	t.Helper()
	p := begin(t, childConfig{DSN: dsn, Lease: lease, Run: true, Hold: at, Mutant: m})
	p.hear("held")
	p.stop()
	return p
}

// proceed continues p and returns when it has finished what it was stopped in: p has one
// handler at a time, and has granted another payment since.
func (b books) proceed(p *process, box *inbox.Inbox) {
	b.t.Helper()
	p.tell()
	p.signal(syscall.SIGCONT)
	for n := 1000; ; n++ { // another process may take one of them
		require.NoError(b.t, box.Webhook().Accept(b.t.Context(), nthPayment(n)))
		require.Eventually(b.t, func() bool { return b.effects(nthPayment(n).ID) == 1 }, patience, 5*time.Millisecond)
		if b.effectsBy(p, n) == 1 {
			return
		}
	}
}

// stoppedBeforeTheFence: it has the claim and nothing else. Another process takes over
// when the lease is over; then the fence must touch no row. It returns the effects.
func stoppedBeforeTheFence(t *testing.T, m mutant) int {
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	first := stopped(t, db.DSN, time.Hour, holdFence, m)
	books.do(`UPDATE depositpay_payments SET leased = 0`) // the lease is over
	second := begin(t, childConfig{DSN: db.DSN, Run: true})
	books.awaitDone(1)
	require.Equal(t, 1, books.effectsBy(second, 0))
	second.kill()
	books.proceed(first, box)
	return books.effects(nthPayment(0).ID)
}

// claimIsOver: the row changes between the claim and the fence, which must touch no row
// then. It returns the effects.
func claimIsOver(t *testing.T, change string) int {
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	first := begin(t, childConfig{DSN: db.DSN, Lease: time.Hour, Run: true, Hold: holdFence})
	first.hear("held")
	books.do(`UPDATE depositpay_payments SET ` + change)
	books.proceed(first, box)
	return books.effects(nthPayment(0).ID)
}

// stoppedMutantInTheHandler: the handler has run, and only then comes the mark.
func stoppedMutantInTheHandler(t *testing.T) int {
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	first := stopped(t, db.DSN, time.Hour, holdHandler, doneAtEnd)
	books.do(`UPDATE depositpay_payments SET leased = 0`)
	second := begin(t, childConfig{DSN: db.DSN, Run: true, Mutant: doneAtEnd})
	books.awaitDone(1)
	second.kill()
	books.proceed(first, box)
	return books.effects(nthPayment(0).ID)
}

// testStoppedInTheHandler: the fence has locked the row, so nobody takes over until
// the server ends the stopped process's session (idle_in_transaction_session_timeout, which
// the fence sets to the lease). Then the effect is rolled back, and another one grants.
func testStoppedInTheHandler(t *testing.T) {
	t.Parallel()
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	first := stopped(t, db.DSN, time.Second, holdHandler, "")
	second := begin(t, childConfig{DSN: db.DSN, Run: true})
	books.awaitDone(1)
	require.Equal(t, 1, books.effectsBy(second, 0))
	second.kill()
	books.proceed(first, box)
	require.Equal(t, 1, books.effects(nthPayment(0).ID))
	require.Equal(t, 2, books.number(`SELECT attempt FROM depositpay_payments WHERE payment_id = $1`, nthPayment(0).ID.String()))
}

// testContinuedInTime: the lease is over and the session still lives. Others pass over the
// locked row, and the stopped process commits when it is continued: it is the only one.
func testContinuedInTime(t *testing.T) {
	t.Parallel()
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)))
	first := begin(t, childConfig{DSN: db.DSN, Lease: time.Hour, Run: true, Hold: holdFence})
	first.hear("held")
	books.do(`UPDATE depositpay_payments SET leased = 0`) // before the fence locks it
	// The second hold would be in the handler, but a child has one: the handler of a
	// payment that is locked by the test itself stands for it.
	blocker, err := db.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = blocker.ExecContext(t.Context(), `LOCK TABLE effects IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	first.tell()
	require.Eventually(t, func() bool {
		return books.number(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'effects'::regclass`) == 1
	}, patience, 5*time.Millisecond, "the handler waits for the table")
	first.stop()
	require.NoError(t, blocker.Rollback())

	second := begin(t, childConfig{DSN: db.DSN, Run: true})
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(1)))
	books.awaitDone(1)
	require.Equal(t, 1, books.effectsBy(second, 1), "it claims, and passes over what is locked")
	require.Zero(t, books.effects(nthPayment(0).ID))
	first.signal(syscall.SIGCONT)
	books.awaitDone(2)
	require.Equal(t, 1, books.effectsBy(first, 0))
	require.Equal(t, 1, books.effects(nthPayment(0).ID))
}

// TestStoppedWhileAccepting: a process that is stopped between the insert of a hint and
// its commit does not hold up the acceptance of that payment by others for long.
func TestStoppedWhileAccepting(t *testing.T) {
	t.Parallel()
	db, books := newBooks(t)
	box := accepting(t, inbox.Config{DB: db.DB})
	first := begin(t, childConfig{DSN: db.DSN, Hold: holdHint})
	first.hear("held")
	first.stop()
	began := time.Now()
	require.NoError(t, box.Webhook().Accept(t.Context(), nthPayment(0)), "until the server ends the stopped session")
	t.Logf("accepted after %v", time.Since(began))
	require.Equal(t, 1, books.number(`SELECT count(*) FROM {p}payments WHERE stage = {ready}`))
}
