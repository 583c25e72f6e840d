package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const nobody = 65534

// withoutRoot runs do with the rights on files that an ordinary user has. Root's rights
// are those of a thread on Linux: this one lays them down and ends with the function.
func withoutRoot(t *testing.T, directory string, do func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		return do()
	}
	for at := directory; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
		info, err := os.Stat(at)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(at, info.Mode().Perm()|0o011))
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread dies with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		result <- do()
	}()
	return <-result
}
