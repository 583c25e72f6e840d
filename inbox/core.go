package inbox

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/backoff"
)

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

const (
	tick       = time.Second // how often the database is asked without a wake
	maxBackoff = 15 * time.Second
)

// wake makes Run look for work.
func (b *core) wake() {
	select {
	case b.wakes <- struct{}{}:
	default:
	}
}

func (b *core) wakeReconcile() {
	select {
	case b.reconciles <- struct{}{}:
	default:
	}
}

// loop calls step about every interval, at once while step has more to do, and with backoff while step
// fails.
func (b *core) loop(ctx context.Context, name string, interval time.Duration, step func(context.Context) (more bool, err error)) {
	failures := 0
	for ctx.Err() == nil {
		more, err := step(ctx)
		wait := backoff.Between(interval*3/4, interval*5/4, backoff.Jitter())
		switch {
		case err != nil:
			b.failed(ctx, name, err)
			wait = backoff.Delay(failures, tick/4, maxBackoff, backoff.Jitter())
			failures++
		case more:
			failures, wait = 0, 0
		default:
			failures = 0
		}
		if wait > 0 {
			pause(ctx, wait, nil)
		}
	}
}

// failed logs an error, unless Run is stopping.
func (b *core) failed(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: inbox: "+name+" failed and is tried again", slog.Any("error", err))
}

// pause waits until the time is over, wake has a value, or ctx ends.
func pause(ctx context.Context, wait time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// queryStrings runs a query for one column.
func (b *core) queryStrings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(query), args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) })
}

func (b *core) meta(ctx context.Context, name string) (string, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(`SELECT value FROM {p}meta WHERE name = ?1`), name)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	value := ""
	for rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return "", err
		}
	}
	return value, rows.Err()
}

// failpoint is a step between two writes of which the second must not become durable before the first.
// failpoint_unix_test.go kills, fails and stops the process at each step, and fails for a step that it
// does not reach.
type failpoint int

const (
	stepAccepted failpoint = iota // ops are durable, and their callers do not know
	stepClaimed                   // a payment is claimed, and its handler has not begun
	stepFenced                    // the fence is in the handler's transaction, and the handler has not begun
	stepHandled                   // the handler has succeeded, and nothing is committed
	stepDone                      // the handler's transaction is committed, and this process does not know
	stepFolded                    // SQLite: ops are folded into the ledger, and this process does not know
	failpoints                    // how many there are
)

// hook is called at the steps. Only this package's tests can set one.
type hook func(failpoint) error

// after returns err, or else the hook's error.
func (h hook) after(here failpoint, err error) error {
	if h == nil || err != nil {
		return err
	}
	return h(here)
}
