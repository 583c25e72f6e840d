// Package sqlite opens the SQLite ledger of package inbox with a driver that is written
// in Go (modernc.org/sqlite): nothing has to be installed, and cgo is not needed. It is the
// only package that links that driver, so anyone who keeps the ledger in PostgreSQL, or
// brings another SQLite driver, links none of it.
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
// For the path p there are p (the ledger), p-intake (what arrived and is not in the ledger
// yet), for each of the two a -wal and a -shm file while it is in use, and p-lock. They
// belong together: copy them only after Close, or with SQLite's own VACUUM INTO or
// backup, never with cp while the process runs. All but p-lock, which is empty but for a
// process id, hold payments: they are created readable for their owner alone (0600), and
// files that others could read are closed to them.
//
// A symbolic link is followed first, so the files stand next to the one it points to.
//
// # One process
//
// One process at a time may have a ledger open; a second Open, in the same or another
// process, fails at once with [ErrLocked]. The operating system drops the lock when the
// process ends, however it ends: no lock is ever stale, and p-lock need not and must not
// be deleted by hand. Reading along with the sqlite3 program is fine. Programs in the
// same process must not open and close the files themselves: on POSIX systems that drops
// the locks that SQLite holds (the environment variable MODERNC_SQLITE_OFD_LOCK=1 helps
// on Linux).
//
// The file must be on a disk of this machine. NFS, SMB and other network file systems are
// not supported, because neither their locks nor their syncs can be relied on; use PostgreSQL
// where several machines share a ledger.
//
// # Settings
//
// Every connection runs with journal_mode=WAL, synchronous=FULL (on macOS also fullfsync),
// a busy_timeout of 5 s, foreign_keys, no mmap, a -wal file of at most 64 MiB at rest, and
// transactions that take the write lock when they begin. Open reads all of this back,
// demands SQLite 3.51.3 or newer, because older ones could corrupt a WAL, and commits once
// before it returns: a full or read-only disk is found here.
//
// # Stopping
//
// Close closes all and gives the files free for another process. End your transactions
// first: while one is open, Close says so ([ErrInUse]) and keeps the lock.
//
// # Errors
//
// Every error of Open names the file and what to do. errors.Is tells them apart: [ErrPath],
// [ErrLocked], [ErrNotDatabase], [ErrDamaged], [ErrDiskFull], [ErrReadOnly], [ErrBusy],
// [ErrSettings], and the file system's own (fs.ErrPermission, …). A failed Open leaves
// nothing open and nothing locked.
package sqlite
