package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// errHeld is tryLock's error if somebody else has the lock.
var errHeld = errors.New("locked")

// lock takes the lock of the ledger, or fails and names its holder. The lock file is never deleted:
// between deletion and creation two processes could hold "the" lock.
func lock(file string) (*os.File, error) {
	held, err := os.OpenFile(file+"-lock", os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the caller's choice
	if err != nil {
		return nil, err
	}
	if err := tryLock(held); err != nil {
		defer func() { _ = held.Close() }()
		if errors.Is(err, errHeld) {
			return nil, &Error{Op: "open", File: file, Kind: ErrLocked, Err: holder(held)}
		}
		return nil, fmt.Errorf("lock %s: %w", held.Name(), err)
	}
	// The process id is for the error message of another process; the lock does not depend on it.
	if err := held.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(held, "%d\n", os.Getpid())
	}
	return held, nil
}

func holder(held *os.File) error {
	text, _ := io.ReadAll(io.LimitReader(held, 32))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return errors.New("a process holds the lock")
	case pid == os.Getpid():
		return errors.New("this very process holds the lock")
	}
	return fmt.Errorf("process %d holds the lock", pid)
}
