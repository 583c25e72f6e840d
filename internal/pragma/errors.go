package pragma

import (
	"errors"
	"fmt"
)

// ErrSettings is what errors.Is finds in every refusal of this package: the database
// could be read, but it must not be used like this.
var ErrSettings = errors.New("inbox: the SQLite ledger may not run like this")

// Error is one refusal.
type Error struct {
	File   string // the database file, as SQLite names it
	Got    string // what was found
	Reason string // what would go wrong
	Fix    string // what to do
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s: %s, so %s; to fix it, %s", ErrSettings, e.File, e.Got, e.Reason, e.Fix)
}

// Is makes every refusal an [ErrSettings].
func (e *Error) Is(target error) bool { return target == ErrSettings }
