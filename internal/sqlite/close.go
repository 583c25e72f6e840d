package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ledger has the open parts of one ledger. A pool that is not open is nil.
type ledger struct {
	file                   string
	writer, reader, intake *sql.DB

	mu   sync.Mutex
	held *os.File // the lock file; nil once the lock is free
}

// close closes the pools and then releases the lock; later calls do nothing. If a connection stays in use
// for longer than a moment, close keeps the lock, because its transaction may still commit.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	var errs []error
	// The reader first: a file's last connection checkpoints its -wal file, which a reader cannot do.
	for _, db := range []*sql.DB{l.reader, l.writer, l.intake} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if out := l.out(); out > 0 {
		errs = append(errs, fmt.Errorf("%d connections are in use", out))
		return &Error{Op: "close", File: l.file, Kind: ErrInUse, Err: errors.Join(errs...)}
	}
	errs = append(errs, unlock(l.held))
	l.held = nil
	if err := errors.Join(errs...); err != nil {
		return &Error{Op: "close", File: l.file, Kind: kind(err), Err: err}
	}
	return nil
}

// Connections may come back a moment late: database/sql rolls back a transaction whose context has ended
// in a goroutine of its own, and Rollback does not wait for it.
const (
	givenBack     = time.Second
	givenBackTick = 2 * time.Millisecond
)

// out waits until all connections are back, for a second at most, and returns how many
// are not.
func (l *ledger) out() int {
	ticker := time.NewTicker(givenBackTick)
	defer ticker.Stop()
	for waited := time.Duration(0); ; waited += givenBackTick {
		n := 0
		for _, db := range []*sql.DB{l.reader, l.writer, l.intake} {
			if db != nil {
				n += db.Stats().OpenConnections
			}
		}
		if n == 0 || waited >= givenBack {
			return n
		}
		<-ticker.C
	}
}
