package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
)

// ledger is what is open of one ledger. A pool that is not open is nil.
type ledger struct {
	file                   string
	writer, reader, intake *sql.DB

	mu   sync.Mutex
	held *os.File // the lock file; nil once the lock is free
}

// close closes the pools and then the lock; once that is done it does nothing. While a
// connection is out it keeps the lock, because its transaction may still commit.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	var errs []error
	var out int
	// The reader first: the last connection of a file empties its -wal file, and a
	// reader cannot.
	for _, db := range []*sql.DB{l.reader, l.writer, l.intake} {
		if db != nil {
			errs = append(errs, db.Close())
			out += db.Stats().OpenConnections
		}
	}
	if out > 0 {
		errs = append(errs, fmt.Errorf("%d connections are in use", out))
		return &Error{Op: "close", File: l.file, Kind: ErrInUse, Err: errors.Join(errs...)}
	}
	errs = append(errs, l.held.Close())
	l.held = nil
	if err := errors.Join(errs...); err != nil {
		return &Error{Op: "close", File: l.file, Kind: kind(err), Err: err}
	}
	return nil
}
