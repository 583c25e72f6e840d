package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

const (
	lockExclusive   = 0x2 // LOCKFILE_EXCLUSIVE_LOCK
	lockImmediately = 0x1 // LOCKFILE_FAIL_IMMEDIATELY

	errLockViolation = syscall.Errno(33)  // ERROR_LOCK_VIOLATION
	errHandleFull    = syscall.Errno(39)  // ERROR_HANDLE_DISK_FULL
	errDiskFull      = syscall.Errno(112) // ERROR_DISK_FULL
	errWriteProtect  = syscall.Errno(19)  // ERROR_WRITE_PROTECT
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// tryLock locks one byte far behind the end: locked bytes cannot be read on Windows, and
// the next one wants to read the process id. The system drops the lock with the handle.
func tryLock(file *os.File) error {
	at := syscall.Overlapped{OffsetHigh: 1}
	ok, _, err := lockFileEx.Call(file.Fd(), lockExclusive|lockImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errLockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING):
		return errHeld
	}
	return err
}

// unlock closes the file: no other process has the handle.
func unlock(file *os.File) error { return file.Close() }

// syncDirectory does nothing: Windows cannot sync a directory, NTFS journals its names.
func syncDirectory(string) error { return nil }

// links is 1: counting them takes an open handle, which prepare must not have.
func links(fs.FileInfo) uint64 { return 1 }

func isDiskFull(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errHandleFull)
}

func isReadOnly(err error) bool { return errors.Is(err, errWriteProtect) }
