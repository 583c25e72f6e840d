//go:build unix

package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Program finds a program. If it is missing, Program installs its packages where it can: with
// apt-get, as root or through a sudo without a password. Of several test binaries one installs,
// and the others wait.
func Program(name string, packages ...string) (string, error) {
	path, missing := exec.LookPath(name)
	if missing == nil {
		return path, nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", missing
	}
	if os.Geteuid() != 0 && exec.CommandContext(context.Background(), "sudo", "-n", "true").Run() != nil {
		return "", missing
	}
	release, err := Queue(filepath.Join(os.TempDir(), "depositpay-"+name+"-install"))
	if err != nil {
		return "", err
	}
	defer release()
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	_, _ = fmt.Fprintf(os.Stderr, "debian: no %s found; installing Debian's package\n", name)
	if err := Install(packages...); err != nil {
		return "", errors.Join(missing, err)
	}
	return exec.LookPath(name)
}
