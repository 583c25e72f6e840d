package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// longestPath is SQLite's own limit in bytes, for the longest of the names.
const longestPath = 512 - len("-intake-journal") - 1

// smallest is the size of one page, the smallest that SQLite knows.
const smallest = 512

// locate returns the canonical spelling of path: absolute, with links followed. The names of the lock and
// of the other files derive from it, so that no second spelling gets around them.
func locate(path string) (string, error) {
	switch {
	case path == "":
		return "", refuse(`""`, "SQLite would take it for a temporary file that is gone after Close")
	case strings.HasPrefix(path, ":memory:"):
		return "", refuse(path, "memory forgets every payment when the process ends")
	case strings.HasPrefix(path, "file:"):
		return "", refuse(path, "it is a connection string, and the settings are this package's")
	case strings.ContainsRune(path, 0):
		return "", refuse(fmt.Sprintf("%q", path), "it contains a zero byte")
	case os.IsPathSeparator(path[len(path)-1]):
		return "", refuse(path, "it names a directory")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", failure(path, err)
	}
	if err := makeDirectory(filepath.Dir(absolute)); err != nil {
		return "", failure(absolute, err)
	}
	return resolve(absolute)
}

func resolve(absolute string) (string, error) {
	file, err := filepath.EvalSymlinks(absolute)
	if errors.Is(err, fs.ErrNotExist) {
		if _, dangling := os.Lstat(absolute); dangling == nil {
			return "", refuse(absolute, "it is a link to a file that does not exist")
		}
		var directory string
		directory, err = filepath.EvalSymlinks(filepath.Dir(absolute))
		file = filepath.Join(directory, filepath.Base(absolute))
	}
	if err != nil {
		return "", failure(absolute, err)
	}
	if len(file) > longestPath {
		return "", refuse(file, fmt.Sprintf("it is longer than the %d bytes that SQLite can open", longestPath))
	}
	return file, nil
}

func refuse(path, why string) error {
	return &Error{Op: "open", File: path, Kind: ErrPath, Err: errors.New(why)}
}

// syncNames is syncDirectory, which the tests watch.
var syncNames = syncDirectory

// makeDirectory creates the missing part of directory, for this user only, and syncs it: a durable
// database in a directory that is not durable would be lost with it.
func makeDirectory(directory string) error {
	var missing []string
	for at := directory; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	for _, made := range missing {
		if err := syncNames(filepath.Dir(made)); err != nil {
			return err
		}
	}
	return nil
}

// prepare creates the database file empty, before SQLite does, so that others cannot read it at any
// moment; SQLite gives -wal and -shm the mode of the database. It never opens an existing file: closing
// it would drop the POSIX locks that this process has on it.
func prepare(file string) error {
	created, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the caller's choice
	if err == nil {
		return errors.Join(created.Close(), syncNames(filepath.Dir(file)))
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := accept(file)
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 && size < smallest {
		// SQLite treats a file of one byte as empty and overwrites it.
		return &Error{Op: "open", File: file, Kind: ErrNotDatabase, Err: fmt.Errorf("it has %d bytes", size)}
	}
	for _, name := range []string{file + "-wal", file + "-shm"} {
		if _, err := accept(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// accept rejects anything that is no database file, and removes the rights of other users.
func accept(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, refuse(name, "it is a directory or a device")
	case links(info) > 1:
		// Under a second name the database would have a second -wal file.
		return nil, refuse(name, "the file has a second name (a hard link), and opening it under both corrupts it: copy the file, or remove the other name")
	case info.Mode().Perm()&0o077 != 0:
		return info, os.Chmod(name, info.Mode().Perm()&^0o077)
	}
	return info, nil
}
