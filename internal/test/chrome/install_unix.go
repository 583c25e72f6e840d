//go:build unix

package chrome

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/depositpay/depositpay-go/internal/test/debian"
)

// install installs Debian's package, with a font for Korean, unless that may not be done:
// then it returns why. Several test binaries run at once: one does it, and the others
// wait and find it done.
func install(why error) (string, error) {
	if os.Geteuid() != 0 && exec.CommandContext(context.Background(), "sudo", "-n", "true").Run() != nil {
		return "", why
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", why
	}
	release, err := debian.Queue(filepath.Join(os.TempDir(), "depositpay-chrome-install"))
	if err != nil {
		return "", err
	}
	defer release()
	if path, err := find(names, usual); err == nil {
		return path, nil
	}
	_, _ = fmt.Fprintln(os.Stderr, "chrome: no browser found; installing Debian's package")
	if err := debian.Install("chromium", "fonts-nanum"); err != nil {
		return "", err
	}
	return find(names, usual)
}
