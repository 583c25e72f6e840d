//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock takes flock's lock: it belongs to this opening of the file, so that it holds
// against the same process too, and the kernel drops it when the process is gone.
func tryLock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// unlock frees the lock by name and closes the file. To close it alone is not enough: a
// program that this process is just starting has the descriptor too, until its exec.
func unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// syncDirectory makes new names in directory last.
func syncDirectory(directory string) error {
	opened, err := os.Open(directory) //nolint:gosec // the caller's choice
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

// links counts the names of the file.
func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // narrower on other systems
	}
	return 1
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
