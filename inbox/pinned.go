package inbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"time"
)

// pinned is a connection kept out of the pool for one kind of statement. Handlers
// cannot take it, and it may be told to plan by index alone: a plan that the server
// makes while the tables are small, and keeps, reads them from end to end for as long
// as nothing makes it plan again. The rate was measured to fall to a fifteenth.
type pinned struct {
	db      *sql.DB
	mu      sync.Mutex
	conn    *sql.Conn
	uses    int       // of conn
	planned time.Time // when its plans were last discarded
}

// pinnedIdle is how long a transaction on a pinned connection may be silent. If this
// process is stopped in the middle of one, or cut off, the rows that it has inserted
// would hold up every other replica's acceptance of the same ids. It is below
// commitTimeout, so that those who wait get through.
const pinnedIdle = "5s"

// pinnedSettings leave one plan, row by row through an index.
var pinnedSettings = []string{
	"SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off",
	"SET idle_in_transaction_session_timeout = '" + pinnedIdle + "'",
	// A row that was free in the statement's snapshot may be a handler's by now: rather
	// look again, and see that it is, than wait for the handler.
	"SET lock_timeout = '250ms'",
}

// maxCrossed bounds how often a statement is repeated that the server undid.
const maxCrossed = 10

// do makes p a retrier.
func (p *pinned) do(ctx context.Context, fn func(rowQuerier) error) error {
	return p.withConn(ctx, func(c *sql.Conn) error { return fn(c) })
}

// withConn calls fn with the connection, and once more with a new one if that one turns out
// to be dead, and again if the server undid it in favour of another transaction. So what
// fn does must be harmless to do twice, and fn may write to nothing outside itself: what a
// try leaves there, the next try adds to.
func (p *pinned) withConn(ctx context.Context, fn func(*sql.Conn) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for try, undone := 0, 0; ; try++ {
		if err := p.connect(ctx); err != nil {
			return err
		}
		err := p.replan(ctx)
		if err == nil {
			err = fn(p.conn)
		}
		// Groups are sorted, which makes deadlocks rare and does not rule them out: in what
		// order an UPDATE locks its rows is up to the planner.
		for ; crossed(err) && undone < maxCrossed; undone++ {
			err = fn(p.conn)
		}
		for hasState(err, lockTimeout) && ctx.Err() == nil {
			err = fn(p.conn)
		}
		if err == nil || p.conn.PingContext(ctx) == nil {
			return err
		}
		discard(p.conn)
		p.conn = nil
		if try > 0 || ctx.Err() != nil {
			return err
		}
	}
}

// replan makes the server plan anew: after each doubling of the uses, while the tables
// may be young, and once a minute. Which row by row it chooses still depends on what the
// planner takes the tables' size for, and planning each time was measured to cost a
// third of a group.
func (p *pinned) replan(ctx context.Context) error {
	p.uses++
	if p.uses&(p.uses-1) != 0 && time.Since(p.planned) < time.Minute {
		return nil
	}
	p.planned = time.Now()
	_, err := p.conn.ExecContext(ctx, "DISCARD PLANS")
	return err
}

const lockTimeout = "55P03"

// crossed tells whether the server undid a statement because of another transaction: a
// deadlock or a serialization failure.
func crossed(err error) bool { return hasState(err, "40P01") || hasState(err, "40001") }

func hasState(err error, want string) bool {
	var state interface{ SQLState() string } // of pgx and of lib/pq
	return errors.As(err, &state) && state.SQLState() == want
}

// refusedData tells whether the database refused what a statement says, as opposed to
// being unable to work: a data exception, a violated constraint, a limit.
func refusedData(err error) bool {
	var state interface{ SQLState() string }
	if !errors.As(err, &state) || len(state.SQLState()) != 5 {
		return false
	}
	switch state.SQLState()[:2] {
	case "22", "23", "54":
		return true
	}
	return false
}

func (p *pinned) connect(ctx context.Context) error {
	if p.conn != nil {
		return nil
	}
	c, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	for _, set := range pinnedSettings {
		if _, err := c.ExecContext(ctx, set); err != nil {
			discard(c)
			return err
		}
	}
	p.conn, p.uses = c, 0
	return nil
}

// discard closes the connection itself: with its settings it must not go back to the
// merchant's pool.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.Close()
}

// close gives the connection back as it was.
func (p *pinned) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	for _, set := range pinnedSettings { // a dead one needs none
		_, _ = p.conn.ExecContext(context.Background(), "RESET "+strings.Fields(set)[1])
	}
	err := p.conn.Close()
	p.conn = nil
	if errors.Is(err, sql.ErrConnDone) {
		return nil // it was dead, as after a crash of the server: the pool has closed it
	}
	return err
}
