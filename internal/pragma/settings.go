package pragma

import (
	"runtime"
	"strconv"
)

// Role is what a pool is for; it decides whether the pool may write.
type Role int

// The roles.
const (
	Writer Role = iota // writes, over exactly one connection
	Reader             // reads only, over any number of connections
)

// A Setting is one PRAGMA of every connection of the ledger.
type Setting struct {
	// Name and Value are as they are written: PRAGMA Name=Value.
	Name, Value string

	accept func(got string) bool
	reason string // what goes wrong without it
}

// Settings are the PRAGMAs for a connection of this role, in no particular order.
func Settings(role Role) []Setting {
	settings := []Setting{
		{"journal_mode", "WAL", is("wal"), "readers would stop the writer, and a commit would cost twice"},
		// NORMAL syncs at checkpoints only: under simulated power cuts it lost
		// acknowledged rows in nine runs of ten.
		{"synchronous", "FULL", within(2, 3), "a power cut could lose payments that were already acknowledged"},
		{"busy_timeout", "5000", within(5000, 1<<31), "a passing lock of another program would fail a payment at once"},
		{"foreign_keys", "ON", is("1"), "rows could point to payments that do not exist"},
		{"journal_size_limit", strconv.Itoa(64 << 20), within(0, 64<<20), "the -wal file would stay as large as it ever was"},
		{"wal_autocheckpoint", "1000", within(1, 1<<20), "the -wal file would grow without bound"},
		// A mapped page that cannot be read raises a signal instead of an error.
		{"mmap_size", "0", is("0"), "a disk error would kill the process instead of failing a statement"},
		{"locking_mode", "NORMAL", is("normal"), "the other connections of the ledger would be locked out"},
	}
	if role == Reader {
		settings = append(settings, Setting{"query_only", "ON", is("1"), "a reader could take the only write lock"})
	} else {
		settings = append(settings, Setting{"query_only", "OFF", is("0"), "nothing could be written"})
	}
	if runtime.GOOS == "darwin" {
		// On macOS a plain fsync stops at the drive's cache.
		const lost = "the drive's cache could lose payments that were already acknowledged"
		settings = append(settings,
			Setting{"fullfsync", "ON", is("1"), lost},
			Setting{"checkpoint_fullfsync", "ON", is("1"), lost})
	}
	return settings
}

func is(want string) func(string) bool {
	return func(got string) bool { return got == want }
}

func within(low, high int64) func(string) bool {
	return func(got string) bool {
		n, err := strconv.ParseInt(got, 10, 64)
		return err == nil && n >= low && n <= high
	}
}
