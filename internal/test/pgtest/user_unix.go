//go:build unix

package pgtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user as whom the server runs; nil is the user of the tests.
type account struct{ uid, gid uint32 }

// serverAccount finds a user for the server where root runs the tests: PostgreSQL refuses
// to run as root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is the user of the tests
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &account{uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody: run the tests as an ordinary user")
}

// directory makes a temporary directory that belongs to the account.
func (a *account) directory() (string, error) {
	parent := os.TempDir()
	if a != nil && !reachable(parent) {
		parent = "/tmp"
	}
	made, err := os.MkdirTemp(parent, "pgtest-")
	if err != nil || a == nil {
		return made, err
	}
	if err := os.Chown(made, int(a.uid), int(a.gid)); err != nil {
		return "", errors.Join(err, os.Remove(made))
	}
	return made, nil
}

// reachable reports whether every user may enter the directory.
func reachable(directory string) bool {
	for at := directory; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// command prepares a program that runs as the account, in a process group of its own: a
// Ctrl-C is for the tests, and the server ends after them.
func (a *account) command(directory, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // what binaries found
	cmd.Dir = directory
	// None of the PG… variables that are meant for somebody's psql; and messages in
	// English, because start waits for one.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + directory, "TMPDIR=" + directory, "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return cmd
}
