//go:build unix

package chrome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// install installs Debian's package, with a font for Korean, unless that may not be done:
// then it returns why. Several test binaries run at once: one does it, and the others
// wait and find it done.
func install(why error) (string, error) {
	apt := []string{"apt-get"}
	if os.Geteuid() != 0 {
		if exec.CommandContext(context.Background(), "sudo", "-n", "true").Run() != nil {
			return "", why
		}
		apt = []string{"sudo", "-n", "apt-get"}
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", why
	}
	release, err := queue(filepath.Join(os.TempDir(), "depositpay-chrome-install"))
	if err != nil {
		return "", err
	}
	defer release()
	if path, err := find(names, usual); err == nil {
		return path, nil
	}
	_, _ = fmt.Fprintln(os.Stderr, "chrome: no browser found; installing Debian's package")
	// Another program may be in the middle of an installation: wait for it.
	for _, args := range [][]string{
		{"-o", "DPkg::Lock::Timeout=300", "update", "-qq"},
		{"-o", "DPkg::Lock::Timeout=300", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-nanum"},
	} {
		args = append(apt[1:], args...)
		cmd := exec.CommandContext(context.Background(), apt[0], args...) //nolint:gosec // the lines above
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w: %s", args, err, bytes.TrimSpace(out[max(0, len(out)-500):]))
		}
	}
	return find(names, usual)
}

// queue waits until no other process is in the queue of this name.
func queue(name string) (release func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a fixed name
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}
