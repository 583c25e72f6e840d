package sqlite

import (
	"errors"
	"os"
	"sync"
)

// Failure gives an error its kind, for the test of the kinds.
var Failure = failure

var (
	synced    sync.Map // map[string]bool: the names that were in a directory when it was synced last
	unsynced  sync.Map // directories whose sync fails
	errNoSync = errors.New("made to fail")
)

// Before any test, so that no Open is under way.
func init() {
	syncNames = func(directory string) error {
		if _, broken := unsynced.Load(directory); broken {
			return errNoSync
		}
		names := map[string]bool{}
		entries, err := os.ReadDir(directory)
		for _, e := range entries {
			names[e.Name()] = true
		}
		synced.Store(directory, names)
		return errors.Join(err, syncDirectory(directory))
	}
}

// Synced are the names that were in the directory when it was synced last.
func Synced(directory string) map[string]bool {
	names, _ := synced.Load(directory)
	have, _ := names.(map[string]bool)
	return have
}

// BreakSync has every sync of the directory fail.
func BreakSync(directory string) { unsynced.Store(directory, true) }
