//go:build unix

package pgtest_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestNothingOutlivesTheTests: a test process is killed with a shared server and a
// private one; both end, and their directories with them.
func TestNothingOutlivesTheTests(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	cmd.Env = append(os.Environ(), helperProcess+"=1", pgtest.Environment+"=")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stay, err := cmd.StdinPipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = stay.Close() })
	require.NoError(t, cmd.Start())

	var pids []int
	var directories []string
	for lines := bufio.NewScanner(out); len(pids) < 2 && lines.Scan(); {
		db := open(t, lines.Text())
		directory := query[string](t, db, "SHOW data_directory")
		file, err := os.ReadFile(directory + "/postmaster.pid")
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(file), "\n")
		pids = append(pids, atoi(t, first))
		directories = append(directories, strings.TrimSuffix(directory, "/data"))
	}
	require.Len(t, pids, 2)
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, 0), "it runs")
	}
	require.NoError(t, cmd.Process.Kill())
	require.ErrorContains(t, cmd.Wait(), "killed")

	for i, pid := range pids {
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, time.Minute, 10*time.Millisecond, "postgres ends")
		require.Eventually(t, func() bool { _, err := os.Stat(directories[i]); return os.IsNotExist(err) }, time.Minute, 10*time.Millisecond, "its directory goes")
	}
}
