package sqlite_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// TestSecondOpen: in one process, by whatever spelling.
func TestSecondOpen(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "data", "ledger.db")
	ledger := open(t, path)
	require.NoError(t, os.Symlink(path, filepath.Join(directory, "link.db")))
	require.NoError(t, os.Symlink(filepath.Dir(path), filepath.Join(directory, "elsewhere")))
	working, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(working, path)
	require.NoError(t, err)

	for _, spelling := range []string{
		path, relative, filepath.Join(directory, "link.db"), filepath.Join(directory, "elsewhere", "ledger.db"),
		directory + "//data/../data/./ledger.db",
	} {
		_, err := sqlite.Open(spelling, nil)
		require.ErrorIs(t, err, sqlite.ErrLocked, spelling)
		require.ErrorContains(t, err, "this very process")
		require.ErrorContains(t, err, path)
	}
	require.NoError(t, ledger.Close())
	open(t, filepath.Join(directory, "link.db"))
	require.NoFileExists(t, filepath.Join(directory, "link.db-intake"), "the files stand together")
}

// TestSecondProcess: refused while the first lives, and not a moment longer.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	other := start(t, path)
	_, err := sqlite.Open(path, nil)
	require.ErrorIs(t, err, sqlite.ErrLocked)
	require.ErrorContains(t, err, "process "+strconv.Itoa(other.cmd.Process.Pid))
	other.kill(t)
	ledger := open(t, path)

	out, err := command(t, path).Output()
	require.Error(t, err)
	require.Contains(t, string(out), sqlite.ErrLocked.Error())
	require.Contains(t, string(out), "process "+strconv.Itoa(os.Getpid()))
	require.NoError(t, ledger.Close())
}

// TestKillKeepsWhatWasAcknowledged: ten processes one after another write to both files
// and are killed in the middle of it.
func TestKillKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	var ledgerIDs, intakeIDs []int64
	for range 10 {
		other := start(t, path)
		time.AfterFunc(time.Duration(rand.Int64N(int64(150*time.Millisecond))), func() { _ = other.cmd.Process.Kill() })
		for toIntake := false; other.lines.Scan(); toIntake = !toIntake {
			id, err := strconv.ParseInt(other.lines.Text(), 10, 64)
			require.NoError(t, err) // a line that was cut is a smaller number, which is stored, too
			if toIntake {
				intakeIDs = append(intakeIDs, id)
			} else {
				ledgerIDs = append(ledgerIDs, id)
			}
		}
		other.kill(t)
	}
	ledger := open(t, path)
	require.NotEmpty(t, ledgerIDs)
	for _, id := range ledgerIDs {
		require.Equal(t, 1, query[int](t, ledger.Reader, "SELECT count(*) FROM rows WHERE id = "+strconv.FormatInt(id, 10)), id)
	}
	for _, id := range intakeIDs {
		require.Equal(t, 1, query[int](t, ledger.Intake, "SELECT count(*) FROM rows WHERE id = "+strconv.FormatInt(id, 10)), id)
	}
	require.Equal(t, "ok", query[string](t, ledger.Reader, "PRAGMA integrity_check"))
	require.Equal(t, "ok", query[string](t, ledger.Intake, "PRAGMA integrity_check"))
}

// process is a running helper.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// start returns once the helper has the ledger open.
func start(t *testing.T, path string) *process {
	t.Helper()
	cmd := command(t, path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, lines: bufio.NewScanner(out)}
	require.True(t, p.lines.Scan())
	require.Equal(t, "open", p.lines.Text())
	return p
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill() // SIGKILL; it may be dead already
	for p.lines.Scan() {     // Wait would cut off what is on its way
		continue
	}
	require.ErrorContains(t, p.cmd.Wait(), "killed")
}

func command(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperPath+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}
