package inbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// dedicatedConn is a connection that is kept out of the pool for one kind of statement, so that
// handlers cannot take it. All inboxes of one pool share it, see reservation.
//
// Nothing is ever set for its session: behind a pooler the next transaction of the session
// may be another program's. What its statements need is set for their transaction, see begin.
type dedicatedConn struct {
	db      *sql.DB
	turn    chan struct{} // holds one value while somebody uses what follows
	conn    *sql.Conn
	uses    int       // of conn
	planned time.Time // when its plans were last discarded
}

func newDedicatedConn(db *sql.DB, conn *sql.Conn) *dedicatedConn {
	return &dedicatedConn{db: db, conn: conn, turn: make(chan struct{}, 1)}
}

// idleLimit is how long a transaction of the inbox's own may be silent. If this process is
// stopped in the middle of one, or cut off, the rows that it has inserted would hold up
// every other replica's acceptance of the same ids. It is below commitTimeout, so that those
// who wait get through.
const idleLimit = "5s"

// begin begins a transaction with its settings, in one round trip: a driver sends statements
// without parameters as they are.
//
// The merchant's default isolation is not for the ledger's statements, which wait for each
// other's rows and then look again. A plan that the server makes while the tables are small,
// and keeps, reads them from end to end for as long as nothing makes it plan again, and the
// rate was measured to fall to a fifteenth: so there is one plan left, row by row through an
// index. A row that was free in the statement's snapshot may be a handler's by now: rather
// look again, and see that it is, than wait for the handler.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED; " +
	"SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; " +
	"SET LOCAL idle_in_transaction_session_timeout = '" + idleLimit + "'; SET LOCAL lock_timeout = '250ms'"

// maxDeadlockRetries bounds how often a transaction is repeated that the server undid.
const maxDeadlockRetries = 10

// do makes d a retrier: fn is a transaction, and gets the context that bounds it.
func (d *dedicatedConn) do(ctx context.Context, fn func(context.Context, rowQuerier) error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return d.retry(ctx, func(d *dedicatedConn) error {
		return d.inTx(ctx, func(c *sql.Conn) error { return fn(ctx, c) })
	})
}

// retry calls fn with a connection that is there, and once more with a new one if that one
// turns out to be dead, and again if the server undid what fn did in favor of another
// transaction, or if a row was locked. So what fn does must be harmless to do twice, and fn may
// write to nothing outside itself but what has committed: what a try leaves there, the next try adds to.
func (d *dedicatedConn) retry(ctx context.Context, fn func(*dedicatedConn) error) error {
	err := d.inTurn(ctx, fn)
	for hasState(err, lockTimeout) && ctx.Err() == nil {
		err = d.inTurn(ctx, fn) // after those who wait: another inbox's rows may be free
	}
	return err
}

func (d *dedicatedConn) inTurn(ctx context.Context, fn func(*dedicatedConn) error) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	for try, undone := 0, 0; ; try++ {
		if err := d.connect(ctx); err != nil {
			return err
		}
		err := fn(d)
		// Groups are sorted, which makes deadlocks rare and does not rule them out: in what
		// order an UPDATE locks its rows is up to the planner.
		for ; isDeadlock(err) && undone < maxDeadlockRetries; undone++ {
			err = fn(d)
		}
		if err == nil || d.conn.PingContext(ctx) == nil {
			return err
		}
		discard(d.conn)
		d.conn = nil
		if try > 0 || ctx.Err() != nil {
			return err
		}
	}
}

// inTx calls fn in a transaction, see begin, and commits it unless there is an error.
func (d *dedicatedConn) inTx(ctx context.Context, fn func(*sql.Conn) error) error {
	committed := false
	defer func() {
		if !committed {
			d.rollBack(ctx)
		}
	}()
	if _, err := d.conn.ExecContext(ctx, begin+d.replan()); err != nil {
		return err
	}
	if err := fn(d.conn); err != nil {
		return err
	}
	_, err := d.conn.ExecContext(ctx, "COMMIT")
	committed = err == nil
	return err
}

// rollBack ends a transaction that may have begun; if it cannot, the connection ends.
func (d *dedicatedConn) rollBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := d.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		discard(d.conn)
	}
}

// replan makes the server plan again: after each doubling of the uses, while the tables may
// be young, and once a minute. Which row by row it chooses still depends on what the planner
// takes the tables' size for, and planning each time was measured to cost a third of a group.
func (d *dedicatedConn) replan() string {
	d.uses++
	if d.uses&(d.uses-1) != 0 && time.Since(d.planned) < time.Minute {
		return ""
	}
	d.planned = time.Now()
	return "; DISCARD PLANS"
}

func (d *dedicatedConn) connect(ctx context.Context) error {
	if d.conn != nil {
		return nil
	}
	c, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	d.conn, d.uses = c, 0
	return nil
}

// discard closes the connection itself, in place of giving it back to the pool.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.Close()
}

// close gives the connection back to the pool.
func (d *dedicatedConn) close() error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.conn == nil {
		return nil
	}
	err := d.conn.Close()
	d.conn = nil
	if errors.Is(err, sql.ErrConnDone) {
		return nil // it was dead, as after a crash of the server: the pool has closed it
	}
	return err
}
