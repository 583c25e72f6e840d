package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// intakeLanes is how many groups are written at once. With one the server waits for the
// client and the client for the server.
const intakeLanes = 2

// postgresConnections is how many connections the inboxes of one pool keep for themselves,
// so that handlers cannot take the last one: the lanes', one for claims, one for lookups.
const postgresConnections = intakeLanes + 2

// reservation is what all inboxes on one pool share: the connections that they keep.
type reservation struct {
	intake [intakeLanes]*dedicatedConn
	work   *dedicatedConn
	look   *dedicatedConn

	db    *sql.DB
	users int // guarded by reservations

	opening sync.Mutex
	kept    bool
	spare   int // how many more connections the pool was seen to give at once
}

// reservations are those of all pools on which an inbox is open.
var reservations = struct {
	sync.Mutex

	of map[*sql.DB]*reservation
}{of: map[*sql.DB]*reservation{}}

// reserve takes the connections that an inbox with that many handlers needs, or finds that
// another inbox of the pool has them.
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

// release gives the connections back when the last inbox of the pool is closed.
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

// open takes all that is needed at once and keeps what the inbox needs for itself. A pool
// that pgxpool stands behind tells no limit, and what comes after the limit waits for ever.
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

// take takes n connections at once, or none; then the error says how many it got.
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
