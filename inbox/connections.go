package inbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// dedicatedConn is a connection reserved for one kind of statement, so that handlers cannot take it.
// All inboxes of one pool share it; see reservation.
//
// It never sets anything for its session: behind a pooler the next transaction of the session may be
// another program's. Settings are made per transaction; see begin. See DESIGN I-08.
type dedicatedConn struct {
	db      *sql.DB
	turn    chan struct{} // a mutex for the fields below that ctx can give up on
	conn    *sql.Conn
	uses    int       // of conn
	planned time.Time // when conn's plans were last discarded
}

func newDedicatedConn(db *sql.DB, conn *sql.Conn) *dedicatedConn {
	return &dedicatedConn{db: db, conn: conn, turn: make(chan struct{}, 1)}
}

// idleLimit is how long a transaction of the inbox itself may be idle. If this process is stopped or
// cut off in the middle of one, the rows that it inserted would block every other replica's acceptance
// of the same ids. It is below commitTimeout, so that waiting acceptances still succeed.
const idleLimit = "5s"

// begin begins a transaction with its settings, in one round trip: a driver sends statements without
// parameters as they are.
//
// The isolation is not the merchant's default, since the ledger's statements wait for each other's
// rows and then look again. The planner gets one choice, row by row through an index: a plan made and
// cached while the tables are small reads them from end to end until something makes the server plan
// again, and the rate was measured to fall to a fifteenth. lock_timeout: a row that was free in the
// statement's snapshot may be locked by a handler by now; looking again is better than waiting for it.
// See DESIGN I-12.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED; " +

	"SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; " +

	"SET LOCAL idle_in_transaction_session_timeout = '" + idleLimit + "'; SET LOCAL lock_timeout = '250ms'"

// do makes d a retrier: fn runs in a transaction and gets the context that bounds it.
func (d *dedicatedConn) do(ctx context.Context, fn func(context.Context, rowQuerier) error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return d.retry(ctx, func(d *dedicatedConn) error {
		return d.inTx(ctx, func(c *sql.Conn) error { return fn(ctx, c) })
	})
}

// retry calls fn, again with a new connection if the connection turns out to be dead, and again if the
// server rolled fn's transaction back in favor of another one or a row was locked. So fn must be
// idempotent, and outside itself it may write only what has committed: the next try would add to
// whatever a failed try leaves there.
func (d *dedicatedConn) retry(ctx context.Context, fn func(*dedicatedConn) error) error {
	err := d.inTurn(ctx, fn)
	for hasState(err, lockTimeout) && ctx.Err() == nil {
		err = d.inTurn(ctx, fn) // behind other waiting callers, whose rows may be free
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
		// Groups are sorted, which makes deadlocks rare but does not rule them out: the planner
		// chooses the order in which an UPDATE locks its rows.
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

// rollBack ends a transaction that may have begun, or else the connection.
func (d *dedicatedConn) rollBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := d.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		discard(d.conn)
	}
}

// replan makes the server plan again after each doubling of the uses, while the tables may be young,
// and once a minute: which index the planner chooses still depends on its idea of the tables' sizes.
// Planning each time was measured to cost a third of a group.
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

// discard closes the connection instead of returning it to the pool.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.Close()
}

// close returns the connection to the pool.
func (d *dedicatedConn) close() error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.conn == nil {
		return nil
	}
	err := d.conn.Close()
	d.conn = nil
	if errors.Is(err, sql.ErrConnDone) {
		return nil // it was dead, for example after a server crash, and the pool closed it
	}
	return err
}

// intakeLanes is how many groups are written at once. With one, the client and the server would take
// turns waiting for each other.
const intakeLanes = 2

// postgresConnections is how many connections all inboxes of one pool reserve, so that handlers cannot
// take the last one: one for each lane, one for claims, one for lookups.
const postgresConnections = intakeLanes + 2

// reservation holds the connections that all inboxes on one pool share. See DESIGN I-07.
type reservation struct {
	intake [intakeLanes]*dedicatedConn
	work   *dedicatedConn
	look   *dedicatedConn

	db    *sql.DB
	users int // guarded by reservations

	opening sync.Mutex
	kept    bool
	spare   int // how many more connections the pool has given at once
}

// reservations has every pool on which an inbox is open.
var reservations = struct {
	sync.Mutex

	of map[*sql.DB]*reservation
}{of: map[*sql.DB]*reservation{}}

// reserve takes the connections that an inbox with that many handlers needs, unless another inbox of
// the pool has them already.
func reserve(ctx context.Context, db *sql.DB, handlers int, wait time.Duration) (*reservation, error) {
	reservations.Lock()
	r := reservations.of[db]
	if r == nil {
		r = &reservation{db: db}
		reservations.of[db] = r
	}
	r.users++
	reservations.Unlock()
	if err := r.open(ctx, handlers, wait); err != nil {
		return nil, errors.Join(err, r.release())
	}
	return r, nil
}

// release returns the connections when the last inbox of the pool is closed.
func (r *reservation) release() error {
	reservations.Lock()
	r.users--
	last := r.users == 0
	if last {
		delete(reservations.of, r.db)
	}
	reservations.Unlock()
	if !last || !r.kept {
		return nil
	}
	errs := []error{r.work.close(), r.look.close()}
	for _, lane := range r.intake {
		errs = append(errs, lane.close())
	}
	return errors.Join(errs...)
}

// reserveTimeout bounds how long Open waits for the pool's connections.
const reserveTimeout = 5 * time.Second

// open takes all needed connections at once and keeps the reserved ones. It is the only way to find
// out: a pool backed by pgxpool does not report its limit, and a request beyond it waits for ever.
func (r *reservation) open(ctx context.Context, handlers int, wait time.Duration) error {
	r.opening.Lock()
	defer r.opening.Unlock()
	keep, spare := 0, handlers+1
	if !r.kept {
		keep = postgresConnections
	} else if spare <= r.spare {
		return nil
	}
	conns, err := r.take(ctx, keep+spare, wait)
	if err != nil {
		return r.tooFew(err, handlers)
	}
	for _, c := range conns[keep:] {
		err = errors.Join(err, c.Close())
	}
	if err == nil && keep > 0 {
		err = checkPooler(ctx, conns[0], conns[1])
	}
	if err != nil {
		for _, c := range conns[:keep] {
			discard(c)
		}
		return err
	}
	r.spare = spare
	if keep > 0 {
		r.keep(conns)
	}
	return nil
}

func (r *reservation) keep(conns []*sql.Conn) {
	for i := range r.intake {
		r.intake[i] = newDedicatedConn(r.db, conns[i])
	}
	r.work, r.look = newDedicatedConn(r.db, conns[intakeLanes]), newDedicatedConn(r.db, conns[intakeLanes+1])
	r.kept = true
}

// take takes n connections at once, or none; the error then says how many came.
func (r *reservation) take(ctx context.Context, n int, wait time.Duration) ([]*sql.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conns, errs := make([]*sql.Conn, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { conns[i], errs[i] = r.db.Conn(limited) })
	}
	all.Wait()
	conns = slices.DeleteFunc(conns, func(c *sql.Conn) bool { return c == nil })
	if len(conns) == n {
		return conns, nil
	}
	got := len(conns)
	for _, c := range conns {
		_ = c.Close()
	}
	err := fmt.Errorf("%w within %v", errNoMore, wait)
	for _, e := range errs {
		if e != nil && (!errors.Is(e, context.DeadlineExceeded) || ctx.Err() != nil) {
			err = e
		}
	}
	return nil, &takeError{got, err}
}

var errNoMore = errors.New("no other one came")

type takeError struct {
	got int
	err error
}

func (e *takeError) Error() string { return e.err.Error() }

func (e *takeError) Unwrap() error { return e.err }

// tooFew is the error of Open when take has failed.
func (r *reservation) tooFew(err error, handlers int) error {
	got := 0
	if e, ok := errors.AsType[*takeError](err); ok {
		got = e.got
	}
	if r.kept {
		got += postgresConnections
	}
	need := postgresConnections + handlers + 1
	if !errors.Is(err, errNoMore) {
		return fmt.Errorf("inbox: Config.DB: open %d connections, of which %d came: %w", need, got, err)
	}
	return fmt.Errorf("inbox: Config.DB gave %d connections and %d are needed: %d that all inboxes of the pool keep, Config.Concurrency (%d) for handlers, and 1; "+
		"raise the pool's limit (pgxpool: MaxConns or pool_max_conns, database/sql: SetMaxOpenConns), lower Concurrency, free connections that the program holds, "+
		"or see whether the database can be reached: %w", got, need, postgresConnections, handlers, err)
}
