//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/depositpay/depositpay-go/internal/test/debian"
)

// binaries finds the server's programs, and installs them where that may be done.
func binaries() (string, error) {
	folder, err := findBinaries(usual)
	if _, noApt := exec.LookPath("apt-get"); !errors.Is(err, errNoBinaries) || os.Geteuid() != 0 || noApt != nil {
		return folder, err
	}
	return install("/etc/postgresql-common", usual)
}

// pgbouncer finds PgBouncer, and installs it where the tests may. Debian's package also starts
// one where an init system runs, which does no harm.
func pgbouncer() (string, error) {
	const usual = "/usr/sbin/pgbouncer" // often not on PATH
	if path, err := exec.LookPath(usual); err == nil {
		return path, nil
	}
	path, missing := debian.Program("pgbouncer", "pgbouncer")
	if missing == nil {
		return path, nil
	}
	path, err := exec.LookPath(usual)
	if err != nil {
		return "", missing
	}
	return path, nil
}

// install installs Debian's package. Several test binaries run at once: one does it, and
// the others wait and find it done.
func install(configuration string, folders []string) (string, error) {
	release, err := debian.Queue(filepath.Join(os.TempDir(), "depositpay-pgtest-install"))
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
	if err := debian.Install("postgresql"); err != nil {
		return "", err
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
