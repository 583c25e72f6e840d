package sqlite

import (
	_ "modernc.org/sqlite" // the version in this module's go.mod is the oldest that Open accepts in production

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// Options are the optional settings of [Open]. Readers is the number of connections that read
// the ledger; 0 means 4.
type Options = sqlite.Options

// Error says which operation (Op, "open" or "close") failed on which file (File, absolute, with
// links followed), why (Err, or nil), and what to do (Kind, one of the Err… of this package, or nil).
type Error = sqlite.Error

// What errors.Is finds in the errors of this package. Each text says what to do.
var (
	// ErrPath refuses a path before anything is touched.
	ErrPath = sqlite.ErrPath
	// ErrLocked says that the ledger is open already, here or in another process.
	ErrLocked = sqlite.ErrLocked
	// ErrNotDatabase refuses a file that is something else. It is left as it was.
	ErrNotDatabase = sqlite.ErrNotDatabase
	// ErrDamaged says that the file was a database once.
	ErrDamaged = sqlite.ErrDamaged
	// ErrDiskFull says that nothing could be written. What was acknowledged is stored.
	ErrDiskFull = sqlite.ErrDiskFull
	// ErrReadOnly says that the file or its disk cannot be written.
	ErrReadOnly = sqlite.ErrReadOnly
	// ErrBusy says that a program that ignores the lock file holds the database.
	ErrBusy = sqlite.ErrBusy
	// ErrInUse is what Close says while a connection is out.
	ErrInUse = sqlite.ErrInUse
	// ErrSettings says that the database may not run with these settings, or with this
	// version of SQLite.
	ErrSettings = sqlite.ErrSettings
)

// Open opens the ledger at path, and creates it (and its directory) if it is not there.
// See the package's guide for the files, the lock, the settings and the errors. It takes
// milliseconds, and up to 5 s if another program is in the middle of a transaction. The
// pools of the result may be used at once by any number of goroutines.
func Open(path string, opts *Options) (*inbox.SQLite, error) { return sqlite.Open(path, opts) }
