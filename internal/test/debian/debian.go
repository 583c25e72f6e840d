//go:build unix

// Package debian installs Debian's packages for tests that need a real server or browser.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// Install runs apt-get: directly as root, otherwise through a sudo without a password. One
// process at a time: an apt-get update breaks the package cache of another.
func Install(packages ...string) error {
	release, err := Queue(filepath.Join(os.TempDir(), "depositpay-apt"))
	if err != nil {
		return err
	}
	defer release()
	apt := []string{"apt-get", "-o", "DPkg::Lock::Timeout=300"} // another program may be installing
	if os.Geteuid() != 0 {
		apt = slices.Insert(apt, 0, "sudo", "-n")
	}
	for _, args := range [][]string{
		{"update", "-qq"},
		append([]string{"install", "-y", "-qq", "--no-install-recommends"}, packages...),
	} {
		line := slices.Concat(apt, args)
		cmd := exec.CommandContext(context.Background(), line[0], line[1:]...) //nolint:gosec // the lines above
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: …%s", args[0], err, out[max(0, len(out)-1500):])
		}
	}
	return nil
}

// Queue locks the named file, so that of several test binaries one goes first.
func Queue(name string) (release func(), err error) {
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
