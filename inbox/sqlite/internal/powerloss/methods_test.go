//go:build linux

package powerloss_test

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// What changes a disk goes to the file system below, so that SQLite sees it, and into the
// disk's own books. A sync goes into the books alone: what it costs is not what is tested.

func xOpen(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	at[handle](file).methods = 0 // SQLite calls xClose on a failed opening that has methods
	o := &openFile{}
	if name != 0 && flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE == 0 {
		path := libc.GoString(name)
		if o.disk = diskOf(path); o.disk != nil {
			var on bool
			if o.node, on = o.disk.open(path, flags&sqlite3.SQLITE_OPEN_CREATE != 0); !on {
				return sqlite3.SQLITE_CANTOPEN
			}
		}
	}
	rc := function[openFunc](at[sqlite3.Tsqlite3_vfs](below).FxOpen)(tls, below, name, file+handleSize, flags, outFlags)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	id := lastID.Add(1)
	opened.Store(id, o)
	*at[handle](file) = handle{uintptr(unsafe.Pointer(&shimMethods)), id}
	return rc
}

func xDelete(tls *libc.TLS, _, name uintptr, syncDirectory int32) int32 {
	path := libc.GoString(name)
	if d := diskOf(path); d != nil && !d.remove(path, syncDirectory != 0) {
		return sqlite3.SQLITE_IOERR_DELETE
	}
	return function[deleteFunc](at[sqlite3.Tsqlite3_vfs](below).FxDelete)(tls, below, name, 0)
}

func xClose(tls *libc.TLS, file uintptr) int32 {
	m, under := inner(file)
	opened.Delete(at[handle](file).id)
	return function[fileFunc](m.FxClose)(tls, under)
}

func xWrite(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	if o := lookUp(file); o.node != nil && !o.disk.write(o.node, bytesAt(data, n), offset) {
		return sqlite3.SQLITE_IOERR_WRITE
	}
	m, under := inner(file)
	return function[dataFunc](m.FxWrite)(tls, under, data, n, offset)
}

func xTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if o := lookUp(file); o.node != nil && !o.disk.truncate(o.node, size) {
		return sqlite3.SQLITE_IOERR_TRUNCATE
	}
	m, under := inner(file)
	return function[sizeFunc](m.FxTruncate)(tls, under, size)
}

func xSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	o := lookUp(file)
	if o.node == nil {
		m, under := inner(file)
		return function[intFunc](m.FxSync)(tls, under, flags)
	}
	if !o.disk.sync(o.node) {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return sqlite3.SQLITE_OK
}

// The rest only passes through.

func xRead(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	m, under := inner(file)
	return function[dataFunc](m.FxRead)(tls, under, data, n, offset)
}

func xFileSize(tls *libc.TLS, file, size uintptr) int32 {
	m, under := inner(file)
	return function[outFunc](m.FxFileSize)(tls, under, size)
}

func xLock(tls *libc.TLS, file uintptr, level int32) int32 {
	m, under := inner(file)
	return function[intFunc](m.FxLock)(tls, under, level)
}

func xUnlock(tls *libc.TLS, file uintptr, level int32) int32 {
	m, under := inner(file)
	return function[intFunc](m.FxUnlock)(tls, under, level)
}

func xCheckReservedLock(tls *libc.TLS, file, reserved uintptr) int32 {
	m, under := inner(file)
	return function[outFunc](m.FxCheckReservedLock)(tls, under, reserved)
}

func xFileControl(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	m, under := inner(file)
	return function[ctlFunc](m.FxFileControl)(tls, under, op, arg)
}

func xSectorSize(tls *libc.TLS, file uintptr) int32 {
	m, under := inner(file)
	return function[fileFunc](m.FxSectorSize)(tls, under)
}

func xDeviceCharacteristics(tls *libc.TLS, file uintptr) int32 {
	m, under := inner(file)
	return function[fileFunc](m.FxDeviceCharacteristics)(tls, under)
}

func xShmMap(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
	m, under := inner(file)
	return function[mapFunc](m.FxShmMap)(tls, under, region, size, extend, out)
}

func xShmLock(tls *libc.TLS, file uintptr, offset, n, flags int32) int32 {
	m, under := inner(file)
	return function[threeFunc](m.FxShmLock)(tls, under, offset, n, flags)
}

func xShmBarrier(tls *libc.TLS, file uintptr) {
	m, under := inner(file)
	function[doFunc](m.FxShmBarrier)(tls, under)
}

func xShmUnmap(tls *libc.TLS, file uintptr, remove int32) int32 {
	m, under := inner(file)
	return function[intFunc](m.FxShmUnmap)(tls, under, remove)
}
