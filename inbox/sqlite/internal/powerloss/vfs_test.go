//go:build linux

package powerloss_test

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite finds a file system and a file through tables of C functions. The driver's C is
// translated to Go, in which such a function is a Go function whose address stands in a uintptr:
// so a Go function can take the place of each. These are the tables of the shim.
var (
	shimName    = [...]byte{'p', 'o', 'w', 'e', 'r', 'l', 'o', 's', 's', 0}
	shim        sqlite3.Tsqlite3_vfs
	shimMethods sqlite3.Tsqlite3_io_methods
	below       uintptr // SQLite's own file system, which does the work
)

// handle is what SQLite has of an open file: the shim's part, then that of the file
// system below.
type handle struct {
	methods uintptr
	id      uintptr // of opened
}

const handleSize = unsafe.Sizeof(handle{})

// opened are the files that SQLite has open.
var (
	opened sync.Map // of *openFile, by id
	lastID atomic.Uintptr
)

// openFile is one opening of a file. node is nil if it is on no disk of a test, or if it is
// one that SQLite itself deletes.
type openFile struct {
	disk *disk
	node *node
}

// disks are the disks of the tests by their directory.
var disks sync.Map

// install makes the shim the file system that SQLite uses if a connection names none.
func install() {
	tls := libc.NewTLS()
	defer tls.Close()
	below = sqlite3.Xsqlite3_vfs_find(tls, 0)
	shim = *at[sqlite3.Tsqlite3_vfs](below)
	shim.FzName = uintptr(unsafe.Pointer(&shimName))
	shim.FpNext = 0
	shim.FszOsFile += int32(handleSize)
	shim.FxOpen = address(xOpen)
	shim.FxDelete = address(xDelete)
	shimMethods = sqlite3.Tsqlite3_io_methods{
		FiVersion: 2, // without memory-mapped files, which the ledger does without
		FxClose:   address(xClose), FxRead: address(xRead), FxWrite: address(xWrite), FxTruncate: address(xTruncate), FxSync: address(xSync),
		FxFileSize: address(xFileSize), FxLock: address(xLock), FxUnlock: address(xUnlock), FxCheckReservedLock: address(xCheckReservedLock),
		FxFileControl: address(xFileControl), FxSectorSize: address(xSectorSize), FxDeviceCharacteristics: address(xDeviceCharacteristics),
		FxShmMap: address(xShmMap), FxShmLock: address(xShmLock), FxShmBarrier: address(xShmBarrier), FxShmUnmap: address(xShmUnmap),
	}
	if rc := sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&shim)), 1); rc != sqlite3.SQLITE_OK {
		panic("SQLite did not take the file system")
	}
}

// address is the C address of f, which must be declared at the top level.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the reverse of address.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// at is the value at a C address.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

// inner returns the table and the handle of the file system below.
func inner(file uintptr) (*sqlite3.Tsqlite3_io_methods, uintptr) {
	file += handleSize
	return at[sqlite3.Tsqlite3_io_methods](at[sqlite3.Tsqlite3_file](file).FpMethods), file
}

func lookUp(file uintptr) *openFile {
	o, ok := opened.Load(at[handle](file).id)
	if !ok {
		panic("SQLite uses a file that is not open")
	}
	return o.(*openFile)
}

func diskOf(name string) *disk {
	if d, ok := disks.Load(filepath.Dir(name)); ok {
		return d.(*disk)
	}
	return nil
}

type (
	openFunc   = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteFunc = func(*libc.TLS, uintptr, uintptr, int32) int32
	dataFunc   = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	sizeFunc   = func(*libc.TLS, uintptr, int64) int32
	fileFunc   = func(*libc.TLS, uintptr) int32
	intFunc    = func(*libc.TLS, uintptr, int32) int32
	outFunc    = func(*libc.TLS, uintptr, uintptr) int32
	ctlFunc    = func(*libc.TLS, uintptr, int32, uintptr) int32
	mapFunc    = func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32
	threeFunc  = func(*libc.TLS, uintptr, int32, int32, int32) int32
	doFunc     = func(*libc.TLS, uintptr)
)
