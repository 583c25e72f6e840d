//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// binaries finds the server's programs, and installs them where that may be done.
func binaries() (string, error) {
	folder, err := findBinaries(usual)
	if !errors.Is(err, errNoBinaries) || os.Geteuid() != 0 {
		return folder, err
	}
	if _, missing := exec.LookPath("apt-get"); missing != nil {
		return "", err
	}
	return install("/etc/postgresql-common", usual)
}

// install installs Debian's package. Several test binaries run at once: one does it, and
// the others wait and find it done.
func install(configuration string, folders []string) (string, error) {
	release, err := queue(filepath.Join(os.TempDir(), "depositpay-pgtest-install"))
	if err != nil {
		return "", err
	}
	defer release()
	if folder, err := findBinaries(folders); err == nil {
		return folder, nil
	}
	_, _ = fmt.Fprintln(os.Stderr, "pgtest: no PostgreSQL found; installing Debian's package")
	if err := noMainCluster(configuration); err != nil {
		return "", err
	}
	// Another program may be in the middle of an installation: wait for it.
	for _, args := range [][]string{
		{"-o", "DPkg::Lock::Timeout=300", "update", "-qq"},
		{"-o", "DPkg::Lock::Timeout=300", "install", "-y", "-qq", "--no-install-recommends", "postgresql"},
	} {
		cmd := exec.CommandContext(context.Background(), "apt-get", args...) //nolint:gosec // the two lines above
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("apt-get %s: %w: %s", args[2], err, tail(out))
		}
	}
	return findBinaries(folders)
}

// noMainCluster keeps Debian's package from making and starting a server of its own. A
// configuration that is there already is somebody's choice and stays.
func noMainCluster(directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // as the package makes it
		return err
	}
	file, err := os.OpenFile(filepath.Join(directory, "createcluster.conf"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // as the package makes it
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("create_main_cluster = false\n")
	return errors.Join(err, file.Close())
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
