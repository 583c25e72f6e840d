package inbox

import (
	"context"
	"database/sql"
	"sync"
)

// pinned is a connection kept out of the pool for one kind of statement. Handlers
// cannot take it, and it may be told to plan by index alone: a plan that the server
// makes while the tables are small, and keeps, reads them from end to end for as long
// as nothing makes it plan again. The rate was measured to fall to a quarter.
type pinned struct {
	db   *sql.DB
	mu   sync.Mutex
	conn *sql.Conn
}

// do calls fn with the connection, and once more with a new one if that one turns out
// to be dead. So what fn does must be harmless to do twice.
func (p *pinned) do(ctx context.Context, fn func(*sql.Conn) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for try := 0; ; try++ {
		if err := p.connect(ctx); err != nil {
			return err
		}
		err := fn(p.conn)
		if err == nil || p.conn.PingContext(ctx) == nil {
			return err
		}
		_ = p.conn.Close()
		p.conn = nil
		if try > 0 || ctx.Err() != nil {
			return err
		}
	}
}

func (p *pinned) connect(ctx context.Context) error {
	if p.conn != nil {
		return nil
	}
	c, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "SET enable_seqscan = off"); err != nil {
		_ = c.Close()
		return err
	}
	p.conn = c
	return nil
}

// close gives the connection back as it was.
func (p *pinned) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	_, _ = p.conn.ExecContext(context.Background(), "RESET enable_seqscan") // a dead one needs none
	err := p.conn.Close()
	p.conn = nil
	return err
}
