//go:build unix

package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/child"
)

// TestDiskFull: when the files may not grow, acceptances fail with the reason, the poller
// is told before it polls, and all goes on by itself, in the same process, once they may.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	p := begin(t, childConfig{SQLite: path, Hold: holdFullDisk, Run: true})
	p.hear("recovered")
	p.kill()
	requireRecovered(t, p, path)
}

// requireRecovered: all that p acknowledged is done, once.
func requireRecovered(t *testing.T, p *process, path string) {
	t.Helper()
	require.NotEmpty(t, p.refused)
	require.NotEmpty(t, p.acks)
	t.Logf("%d acknowledged, %d refused, the first with %q", len(p.acks), len(p.refused), p.refused[0])

	ledger, err := sqlite.Open(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	books := books{t, ledger.Writer}
	for _, n := range p.acks {
		require.Equal(t, 1, books.effects(nthPayment(n).ID), "payment %d was acknowledged", n)
	}
	books.requireExact(books.done())
}

// fullDisk is the child of TestDiskFull. The limit of a file's size stands for the disk,
// unless the ledger has one of its own.
func (c *worker) fullDisk() error {
	signal.Ignore(syscall.SIGXFSZ) // an error in place of the end
	box, err := c.open()
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := c.ledger.ExecContext(ctx, effectsTable); err != nil {
		return err
	}
	child.PrintLine("ready")
	go func() { _ = box.Run(ctx) }()
	journal := box.Poller().Begin()
	if _, err := journal.BeforePoll(ctx); err != nil { // the journal is open when the disk fills up
		return err
	}
	fill := limitFiles
	if c.Disk != "" {
		fill = fillDisk
	}
	makeRoom, err := fill(c.SQLite)
	if err != nil {
		return err
	}
	n := 0
	accept := func() error {
		err := box.Webhook().Accept(ctx, nthPayment(n))
		if err == nil {
			child.PrintLine("ack", n)
			n++
			return nil
		}
		child.PrintLine("refused", n, strings.ReplaceAll(err.Error(), "\n", " "))
		return err
	}
	for range 100_000 {
		if err = accept(); err != nil {
			break
		}
	}
	for range 20 { // and it stays so
		if accept() == nil {
			return errors.New("the disk is full and not full")
		}
	}
	if _, err := journal.BeforePoll(ctx); err == nil {
		return errors.New("the poller may poll although nothing can be stored")
	}
	if err := makeRoom(); err != nil {
		return err
	}
	for range 20 {
		if err := accept(); err != nil {
			return fmt.Errorf("there is room again: %w", err)
		}
	}
	if _, err := journal.BeforePoll(ctx); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := c.idle(waiting, box); err != nil {
		return err
	}
	if c.Disk != "" {
		if err := rescue(c.SQLite, c.Disk); err != nil {
			return err
		}
	}
	child.PrintLine("recovered")
	<-c.lines
	return nil
}

// room is how much a full disk still takes.
const room = 64 << 10

// limitFiles lets no file grow much beyond what the intake's is now.
func limitFiles(path string) (makeRoom func() error, err error) {
	var unlimited syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		return nil, err
	}
	limited := unlimited
	info, err := os.Stat(path + "-intake-wal")
	if err != nil {
		return nil, err
	}
	setLimit(&limited.Cur, info.Size()+room)
	makeRoom = func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &unlimited) }
	return makeRoom, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited)
}

// setLimit sets a limit, which is signed on FreeBSD.
func setLimit[T int64 | uint64](limit *T, n int64) { *limit = T(n) }
