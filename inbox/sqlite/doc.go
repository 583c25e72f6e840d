// Package sqlite opens the SQLite ledger of package inbox with a driver written in Go
// (modernc.org/sqlite), which needs no installation and no cgo. No other package links that driver, so
// programs with PostgreSQL or another SQLite driver do not contain it.
//
// # First use
//
//	ledger, err := sqlite.Open("/var/lib/shop/payments.db", nil)
//	if err != nil {
//		return err
//	}
//	defer ledger.Close()
//
// # Files
//
// The path p has the files p (the ledger), p-intake (acceptances that are not in the ledger yet), a -wal
// and a -shm file for each of the two while in use, and p-lock. They belong together: copy them only
// after Close, or with SQLite's own VACUUM INTO or backup, never with cp while the process runs. All but
// p-lock, which has only a process id, contain payments: they are created with mode 0600, and Open
// removes the rights of others from existing files.
//
// Open follows a symbolic link first, so the files are next to its target.
//
// # One process
//
// Only one process at a time can have a ledger open; a second Open, in the same or another process,
// fails at once with [ErrLocked]. The operating system drops the lock when the process ends, however it
// ends, so no lock is ever stale: never delete p-lock. Reading with the sqlite3 program at the same time
// is fine. Code in the same process must not open and close the files itself: on POSIX systems that
// drops the locks that SQLite holds (the environment variable MODERNC_SQLITE_OFD_LOCK=1 helps on Linux).
//
// The file must be on a local disk. NFS, SMB and other network file systems are not supported, because
// their locks and syncs are not reliable; use PostgreSQL if several machines share a ledger.
//
// # Settings
//
// Every connection has journal_mode=WAL, synchronous=FULL (on macOS also fullfsync), a busy_timeout of
// 5 s, foreign_keys, no mmap, a -wal file of at most 64 MiB at rest, and transactions that take the write
// lock at their start. Open checks all of this, requires SQLite 3.51.3 or newer, because older versions
// could corrupt a WAL, and commits once, which finds a full or read-only disk.
//
// # Stopping
//
// Close closes everything and releases the files. End your transactions first: while one is open, Close
// fails with [ErrInUse] and keeps the lock.
//
// # Errors
//
// Every error of Open names the file and what to do. Tell them apart with errors.Is: [ErrPath],
// [ErrLocked], [ErrNotDatabase], [ErrDamaged], [ErrDiskFull], [ErrReadOnly], [ErrBusy],
// [ErrSettings], and the file system's own (fs.ErrPermission, …). A failed Open leaves
// nothing open and nothing locked.
package sqlite
