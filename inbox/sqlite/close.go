package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ledger is what is open of one ledger. A pool that is not open is nil.
type ledger struct {
	file                   string
	writer, reader, intake *sql.DB

	mu   sync.Mutex
	held *os.File // the lock file; nil once the lock is free
}

// close closes the pools and then the lock; once that is done it does nothing. While a
// connection is out for longer than a moment it keeps the lock, because its transaction
// may still commit.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	var errs []error
	// The reader first: the last connection of a file empties its -wal file, and a
	// reader cannot.
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

// Connections may be given back a moment late: database/sql rolls back a transaction whose
// context has ended in a goroutine of its own, and its owner's Rollback does not wait.
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
