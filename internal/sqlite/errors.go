package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"github.com/depositpay/depositpay-go/internal/pragma"
)

// The errors of this package wrap one of these. Each text says what to do.
var (
	// ErrPath: the path is not usable. Nothing was touched.
	ErrPath = errors.New("give the path of a file on a local disk")
	// ErrLocked: the ledger is already open, here or in another process.
	ErrLocked = errors.New("the ledger is open already: stop the other process first, or use PostgreSQL for several")
	// ErrNotDatabase: the file is something else. It was not changed.
	ErrNotDatabase = errors.New("the file is not an SQLite database: give another path, or move the file away")
	// ErrDamaged: the file is a damaged database.
	ErrDamaged = errors.New("the database file is damaged: keep a copy of it and of its -wal file, and restore a backup")
	// ErrDiskFull: nothing could be written. Everything acknowledged is stored.
	ErrDiskFull = errors.New("the disk is full: free some space, then try again")
	// ErrReadOnly: the file or its disk is read-only.
	ErrReadOnly = errors.New("the file is read-only: give this user the right to write it and its directory")
	// ErrBusy: a program that ignores the lock file has the database locked.
	ErrBusy = errors.New("another program holds the database: end its transaction (the sqlite3 program, a backup)")
	// ErrInUse: Close found a connection in use.
	ErrInUse = errors.New("a transaction or a result is still open: end it and close again; the lock is kept until then")
	// ErrSettings: the settings, or the version of SQLite, are not safe.
	ErrSettings = pragma.ErrSettings
)

var (
	errDisk       = errors.New("the disk failed: look into the system's log, and at the disk's quota")
	errCannotOpen = errors.New("see to it that this user may read and write the file and its directory")
)

// Error says what failed for which file, why, and what to do.
type Error struct {
	Op   string // "open" or "close"
	File string // the file, absolute, with links followed
	Kind error  // one of the Err… of this package, or nil
	Err  error  // the cause, or nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("inbox: %s SQLite ledger %s", e.Op, e.File)
	for _, part := range e.Unwrap() {
		text += ": " + part.Error()
	}
	return text
}

// Unwrap returns Err and Kind, as far as there are.
func (e *Error) Unwrap() []error {
	var parts []error
	for _, part := range []error{e.Err, e.Kind} {
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// failure adds the kind to err, which opening file returned.
func failure(file string, err error) error {
	if known := (*Error)(nil); errors.As(err, &known) || errors.Is(err, ErrSettings) {
		return err // has its file and its advice
	}
	return &Error{Op: "open", File: file, Kind: kind(err), Err: err}
}

func kind(err error) error {
	var failed *driver.Error
	if !errors.As(err, &failed) {
		switch {
		case isDiskFull(err):
			return ErrDiskFull
		case isReadOnly(err):
			return ErrReadOnly
		case errors.Is(err, fs.ErrPermission):
			return errCannotOpen
		}
		return nil
	}
	if failed.Code() == code.SQLITE_IOERR_SHMSIZE {
		return ErrDiskFull // there is no room for the -shm file, whose failures have no code of their own
	}
	switch failed.Code() & 0xff { // the rest is detail
	case code.SQLITE_NOTADB:
		return ErrNotDatabase
	case code.SQLITE_CORRUPT:
		return ErrDamaged
	case code.SQLITE_FULL:
		return ErrDiskFull
	case code.SQLITE_READONLY:
		return ErrReadOnly
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		return ErrBusy
	case code.SQLITE_CANTOPEN, code.SQLITE_PERM, code.SQLITE_AUTH:
		return errCannotOpen
	case code.SQLITE_IOERR:
		return errDisk
	}
	return nil
}
